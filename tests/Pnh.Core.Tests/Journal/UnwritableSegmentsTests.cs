namespace Pnh.Core.Tests.Journal;

public sealed class UnwritableSegmentsTests : UnwritableJournalSpecification
{
    private protected override Task<ILivingJournal> OpenAsync() => Task.FromResult<ILivingJournal>(new JournalOnDisk());
}
