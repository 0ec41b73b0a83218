using Pnh.Core.Journal;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Journal;

/// <summary>The model is held to the specification too, or a comparison with it would say nothing.</summary>
public sealed class ModelJournalTests : EventJournalSpecification
{
    private ModelJournal? _model;

    protected override Task<IEventJournal> OpenAsync()
    {
        _model?.Reopen();
        return Task.FromResult<IEventJournal>(_model ??= new ModelJournal(Time, TimeSpan.FromHours(24)));
    }

    protected override Task CloseAsync() => Task.CompletedTask;
}
