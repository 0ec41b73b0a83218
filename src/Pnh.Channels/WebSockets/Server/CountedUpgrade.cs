using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>An upgrade of the framework's whose connection has its frames counted. One for each upgrade; the reader's thread.</summary>
internal sealed class CountedUpgrade : IHttpUpgradeFeature, IHttpExtendedConnectFeature
{
    private readonly IHttpUpgradeFeature? _upgrade;
    private readonly IHttpExtendedConnectFeature? _connect;
    private Connection? _connection;

    private CountedUpgrade(IHttpUpgradeFeature? upgrade, IHttpExtendedConnectFeature? connect)
    {
        _upgrade = upgrade;
        _connect = connect;
    }

    /// <inheritdoc/>
    public bool IsUpgradableRequest => _upgrade?.IsUpgradableRequest ?? false;

    /// <inheritdoc/>
    public bool IsExtendedConnect => _connect?.IsExtendedConnect ?? false;

    /// <inheritdoc/>
    public string? Protocol => _connect?.Protocol;

    /// <summary>Middleware in front of the framework's for WebSockets.</summary>
    public static Func<RequestDelegate, RequestDelegate> Watch() => static next => context =>
    {
        var upgrade = context.Features.Get<IHttpUpgradeFeature>();
        var connect = context.Features.Get<IHttpExtendedConnectFeature>();
        if (upgrade is { IsUpgradableRequest: true } || connect is { IsExtendedConnect: true })
        {
            var counted = new CountedUpgrade(upgrade, connect);
            context.Features.Set(counted);
            context.Features.Set<IHttpUpgradeFeature>(counted);
            context.Features.Set<IHttpExtendedConnectFeature>(counted);
        }

        return next(context);
    };

    /// <summary>Who hears from now on.</summary>
    public void Serves(Connection connection) => _connection = connection;

    /// <inheritdoc/>
    public async Task<Stream> UpgradeAsync() => new CountedStream(await _upgrade!.UpgradeAsync(), this);

    /// <inheritdoc/>
    public async ValueTask<Stream> AcceptAsync() => new CountedStream(await _connect!.AcceptAsync(), this);

    /// <summary>So many frames came that were no messages.</summary>
    public void Note(int frames)
    {
        for (; frames > 0; frames--)
        {
            _connection?.CountFrame();
        }
    }
}
