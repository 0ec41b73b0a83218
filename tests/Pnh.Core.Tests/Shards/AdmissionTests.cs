using Pnh.Core.Events;
using Pnh.Core.Shards;

namespace Pnh.Core.Tests.Shards;

public sealed class AdmissionTests
{
    private readonly Admission _admission = new(CancellationToken.None);

    [Fact]
    public async Task Alone_EventsOfAnUpload_AreNotCounted()
    {
        await using var hub = new HubUnderTest();
        var upload = await _admission.Uploads.EnterAsync([hub.NewEvent("\"class\":\"bulk\"")], CancellationToken.None);
        Assert.True(_admission.TryEnter("demo", EventClass.Message, out var single));
        Assert.Equal(1, _admission.Alone);
        Assert.Equal(1, _admission.Inside(EventClass.Bulk));
        _admission.Uploads.Leave(upload!);
        Assert.Equal(0, _admission.Inside(EventClass.Bulk));
        Assert.Equal(1, _admission.Alone);
        _admission.Leave(single);
        Assert.Equal(0, _admission.Alone);
        Assert.Equal(0, _admission.Inside(EventClass.Message));
    }

    [Fact]
    public void TryEnter_NoPlaceIsLeft_CountsNothing()
    {
        var places = new List<Admission.Place>();
        while (_admission.TryEnter("demo", EventClass.Message, out var place))
        {
            places.Add(place);
        }

        Assert.Equal(places.Count, _admission.Alone);
        Assert.Equal(places.Count, _admission.Inside(EventClass.Message));
        places.ForEach(_admission.Leave);
        Assert.Equal(0, _admission.Alone);
    }
}
