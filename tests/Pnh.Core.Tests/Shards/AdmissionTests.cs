using Pnh.Core.Events;
using Pnh.Core.Shards;

namespace Pnh.Core.Tests.Shards;

public sealed class AdmissionTests
{
    private readonly Admission _admission = new();

    [Fact]
    public void Alone_EventsOfAnUpload_AreNotCounted()
    {
        Assert.True(_admission.TryEnter("demo", EventClass.Bulk, isAlone: false, out var ofUpload));
        Assert.True(_admission.TryEnter("demo", EventClass.Message, isAlone: true, out var single));
        Assert.Equal(1, _admission.Alone);
        Assert.Equal(1, _admission.Inside(EventClass.Bulk));
        _admission.Leave(ofUpload);
        Assert.Equal(1, _admission.Alone);
        _admission.Leave(single);
        Assert.Equal(0, _admission.Alone);
        Assert.Equal(0, _admission.Inside(EventClass.Message));
    }

    [Fact]
    public void TryEnter_NoPlaceIsLeft_CountsNothing()
    {
        var places = new List<Admission.Place>();
        while (_admission.TryEnter("demo", EventClass.Message, isAlone: true, out var place))
        {
            places.Add(place);
        }

        Assert.Equal(places.Count, _admission.Alone);
        Assert.Equal(places.Count, _admission.Inside(EventClass.Message));
        places.ForEach(_admission.Leave);
        Assert.Equal(0, _admission.Alone);
    }
}
