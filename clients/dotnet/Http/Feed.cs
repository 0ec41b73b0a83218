using System.Text.Json;
using Pnh.Client.Reports;

namespace Pnh.Client.Http;

/// <summary>The hub's feed over as many connections as it takes. One reader at a time.</summary>
internal sealed class Feed(HubRequests requests, HubRequests.Attempts attempts, string? cursor) : IAsyncDisposable
{
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(45); // a line comes each 15 s
    private HttpResponseMessage? _answer;
    private StreamReader? _lines;
    private string? _cursor = cursor;

    /// <summary>The next line. Null = none for now; the feed goes on. Throws <see cref="PnhException"/> when the hub refuses.</summary>
    public async Task<PnhFeedEntry?> ReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            _lines ??= await OpenAsync(cancellationToken).ConfigureAwait(false);
            using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            patience.CancelAfter(Silence);
            if (await _lines.ReadLineAsync(patience.Token).ConfigureAwait(false) is { } line)
            {
                attempts.Succeeded();
                var entry = JsonSerializer.Deserialize(line, PnhJson.Default.PnhFeedEntry)!;
                _cursor = entry.Cursor ?? _cursor;
                return entry.Type == "idle" ? null : entry;
            }
        }
        catch (PnhException problem) when (HubProblem.IsForNowStatus(problem.Status))
        {
            // It will answer later.
        }
        catch (Exception fault) when (HubRequests.IsNoAnswer(fault, cancellationToken))
        {
            // The connection broke, or the hub stopped.
        }

        Close();
        attempts.TryNext(null);
        await attempts.WaitAsync(cancellationToken).ConfigureAwait(false);
        return null;
    }

    public ValueTask DisposeAsync()
    {
        Close();
        return ValueTask.CompletedTask;
    }

    private async Task<StreamReader> OpenAsync(CancellationToken cancellationToken)
    {
        var query = _cursor is null ? "" : $"?after={Uri.EscapeDataString(_cursor)}";
        _answer = await requests.OpenAsync(HttpMethod.Get, $"/v1/feed{query}", null, cancellationToken).ConfigureAwait(false);
        return new StreamReader(await _answer.Content.ReadAsStreamAsync(cancellationToken).ConfigureAwait(false));
    }

    private void Close()
    {
        _lines?.Dispose();
        _answer?.Dispose();
        (_lines, _answer) = (null, null);
    }
}
