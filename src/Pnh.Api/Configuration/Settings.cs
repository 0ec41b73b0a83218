using Pnh.Core.Hubs;
using Pnh.Core.Settings;

namespace Pnh.Api.Configuration;

// A record a group of keys, a property a key: its name, its type, its rule, its default, and in its docstring its meaning.
// Not to be changed once read: the generated binder leaves out properties that only an initializer may set.

/// <summary>Keys directly below <c>Pnh</c> that every node has.</summary>
internal sealed record NodeSettings
{
    /// <summary>
    /// Name of this node among those of the cluster; no two have one name. Default the machine's name, a colon and the first public port.
    /// </summary>
    [NodeName]
    public string? Node { get; set; }

    /// <summary>
    /// Addresses of the public listener: a list, or one text parted by semicolons. https takes the certificate of Kestrel:Certificates:Default:{Path,KeyPath,Password},
    /// which stands beside Pnh, not in it. Default http://localhost:8080.
    /// </summary>
    [ListenAddresses]
    public string[]? Urls { get; set; }

    /// <summary>
    /// Addresses of the operations listener, on ports of its own. pnh console and pnh key ask the first: its certificate must name localhost, or the IP address given there, and be
    /// trusted; SSL_CERT_FILE=… names a file of roots. Default http://localhost:9090.
    /// </summary>
    [ListenAddresses]
    public string[]? OperationsUrls { get; set; }
}

/// <summary>Keys directly below <c>Pnh</c> that a hub has.</summary>
internal sealed record HubSettings
{
    /// <summary>Folder of everything that must survive a restart; a relative name counts from the working folder. Default pnh-data.</summary>
    public string Data { get; set; } = "pnh-data";

    /// <summary>Which engine keeps devices and events. postgres is refused: it is not there yet. Default sqlite.</summary>
    public StoreEngine Store { get; set; } = StoreEngine.Sqlite;

    /// <summary>PostgreSQL connection string, of a store that is not there yet. A secret. Default none.</summary>
    public string? Postgres { get; set; }

    /// <summary>Whether stand-ins for the providers run in the process. Default: only when no apps are configured and all addresses are loopback ones.</summary>
    public bool? Sandbox { get; set; }
}

/// <summary>Keys directly below <c>Pnh</c> that an edge has.</summary>
internal sealed record EdgeNodeSettings
{
    /// <summary>
    /// Of an edge (pnh serve --role edge): where its hub listens for links, Pnh:Cluster:Urls there. A list, or one text parted by semicolons, of several addresses of one hub. No default.
    /// </summary>
    [HubAddresses]
    public string[] Hubs { get; set; } = [];
}

/// <summary>How the nodes of a cluster reach each other.</summary>
internal sealed record ClusterSettings
{
    /// <summary>Of a hub: addresses at which it listens for links of edges, on ports of its own. A list, or one text parted by semicolons. Default none: this node is alone.</summary>
    [ListenAddresses]
    public string[] Urls { get; set; } = [];

    /// <summary>
    /// File with the cluster's keys, one a line, each of 32 to 256 visible ASCII characters, with or without a name before it: <c>west 0f3c…</c>. A hub takes all of them, an edge shows the first: so each edge may have its
    /// own, and a key is changed without a gap. A key without a name is taken from edges of older versions too, which do not prove their sessions. Default none.
    /// </summary>
    public string? KeyFile { get; set; }

    /// <summary>Whether links may go without TLS over more than this machine, where something else encrypts them. Clients' tokens do not go there, and a hub takes an edge's word for them. Default false.</summary>
    public bool PlainHttp { get; set; }
}

/// <summary>How an edge is linked to its hub.</summary>
internal sealed record EdgeSettings
{
    /// <summary>Links to the hub; a session belongs to one. Default 2.</summary>
    [WholeNumber(1, 8)]
    public int Links { get; set; } = 2;

    /// <summary>Apps whose clients the edge takes: a list, or one text parted by semicolons. Default all that are configured.</summary>
    public string[] Apps { get; set; } = [];

    /// <summary>How long an edge without a link to its hub still counts as ready. Default 60 s.</summary>
    [Duration("00:00:01", "01:00:00")]
    public TimeSpan HubWait { get; set; } = TimeSpan.FromMinutes(1);
}

/// <summary>Where the sandbox listens on loopback.</summary>
internal sealed record SandboxPorts
{
    /// <summary>Port of the stand-in for APNs; 0 = any free port. Default 8443.</summary>
    [WholeNumber(0, 65535)]
    public int Apns { get; set; } = 8443;

    /// <summary>Port of the stand-in for FCM, Web Push and Google's OAuth; 0 = any free port. Default 8444.</summary>
    [WholeNumber(0, 65535)]
    public int Fcm { get; set; } = 8444;
}

/// <summary>One app.</summary>
internal sealed record AppSettings
{
    /// <summary>Whether clients may publish with the socket's send. Default false.</summary>
    public bool ClientSend { get; set; }

    /// <summary>Schemes that a notification's link may have besides https, such as myapp: a list, or one text parted by semicolons. Default none.</summary>
    public string[] LinkSchemes { get; set; } = [];

    /// <summary>What providers get of an event: all, or ids. With ids a push carries ContentText, the event's id and its class, and the app fetches the rest from its inbox. Default all.</summary>
    public string Content { get; set; } = "all";

    /// <summary>The line that is shown with Content=ids until the app has fetched the event, 1 to 100 characters. Needed with ids. Default none.</summary>
    public string? ContentText { get; set; }
}

/// <summary>Pages that may use an app.</summary>
internal sealed record OriginSettings
{
    /// <summary>
    /// Origins of pages that may read the API's answers (CORS) and open the app's sockets, a list, or one text parted by semicolons: https://app.example.com; https://*.example.com for all hosts
    /// below; those of web views, like capacitor://localhost; null for every page without an origin of its own; * = any. A page of the hub's own address may always open sockets.
    /// Default none: no CORS headers, and sockets of any page, whose token is in its hello.
    /// </summary>
    [WebOrigins]
    public string[] Origins { get; set; } = [];
}

/// <summary>A publisher key of an app. All keys of all apps are different.</summary>
internal sealed record KeySettings
{
    /// <summary>The key, 16 to 256 characters. A secret. Default none: then its hash is given.</summary>
    public string? Secret { get; set; }

    /// <summary>SHA-256 of the key's UTF-8 as 64 hexadecimal digits, in place of the key. Default none.</summary>
    public string? SecretHash { get; set; }

    /// <summary>What the key may do: one or more of send, register, read and admin, parted by spaces. No default.</summary>
    public string? Scopes { get; set; }
}

/// <summary>How an app's client tokens are checked: by exactly one of a secret, a PEM file and a JWK set. What cannot be used leaves the keys of before, with a line in the log.</summary>
internal sealed record TokenSettings
{
    /// <summary>Secret of HS256, 32 bytes or more (RFC 7518 section 3.2). A secret. Default none.</summary>
    [TakenLive(LiveSource.Text)]
    public string? Hs256Secret { get; set; }

    /// <summary>More secrets of HS256 that are taken beside Hs256Secret: the next one or the former one while it is replaced. A list, or one text parted by semicolons. Secrets. Default none.</summary>
    [TakenLive(LiveSource.Text)]
    public string[]? Hs256Secrets { get; set; }

    /// <summary>A PEM file with public keys. Default none.</summary>
    [TakenLive(LiveSource.File)]
    public string? PublicKeyFile { get; set; }

    /// <summary>A JWK set: its JSON, or the file that holds it. Default none.</summary>
    [TakenLive(LiveSource.File)]
    public string? Jwks { get; set; }

    /// <summary>What aud of a token must name; every app has its own. Default the app's name.</summary>
    public string? Audience { get; set; }
}

/// <summary>Times of one class, call, message, bulk or transient.</summary>
internal sealed record ClassSettings
{
    /// <summary>How long an event is worth delivering. Default 00:00:30 for call, 24:00:00 for message, 06:00:00 for bulk, 00:00:10 for transient.</summary>
    [Duration("00:00:00", "28.00:00:00")]
    public TimeSpan? Ttl { get; set; }

    /// <summary>How long a socket may take to ack before a push goes out too. Default 00:00:00.500 for call, 00:00:03 for message, 00:00:30 for bulk; transient is never pushed.</summary>
    [Duration("00:00:00", "01:00:00", Fractions = true)]
    public TimeSpan? AckWithin { get; set; }

    /// <summary>How long a push waits while another device of the user is active; zero = not at all. Default 00:00:02 for message, zero for the others.</summary>
    [Duration("00:00:00", "01:00:00", Fractions = true)]
    public TimeSpan? PushAfter { get; set; }
}

/// <summary>Who serves sockets, and how many for one user.</summary>
internal sealed record SocketSettings
{
    /// <summary>
    /// Who serves public addresses without TLS: Direct (loops of the hub's own), Framework (Kestrel alone), or a share of the connections like Direct:25%.
    /// Default Direct on Linux; elsewhere always Framework.
    /// </summary>
    [TransportShare]
    public string? Transport { get; set; }

    /// <summary>Sessions that one user may have at once; the next hello is closed with 4005, older ones stay. Default 100.</summary>
    [WholeNumber(1, int.MaxValue)]
    public int PerUser { get; set; } = new HubOptions().SessionsPerUser;

    /// <summary>
    /// Over how long a node that is told to stop sends its clients away: those of an edge resume at another one, those of a node that is alone come back to its next process.
    /// Default 00:00:02, of an edge 00:00:10.
    /// </summary>
    [Duration("00:00:00", "00:10:00")]
    public TimeSpan? DrainWindow { get; set; }
}

/// <summary>Bounds of the listeners.</summary>
internal sealed record LimitSettings
{
    /// <summary>
    /// Public connections that one address (of IPv6: one /64) may have; 0 = any number, for behind a proxy. Loopback is not counted.
    /// Default a quarter of all that fit the limit of open files.
    /// </summary>
    [WholeNumber(0, int.MaxValue)]
    public int? ConnectionsPerAddress { get; set; }
}

/// <summary>How lanes reach providers.</summary>
internal sealed record LaneSettings
{
    /// <summary>Framework, Direct (an HTTP/2 client of the hub's own), or a share of the connections like Direct:25%. Default Framework.</summary>
    [TransportShare]
    public string? Transport { get; set; }
}

/// <summary>Mailboxes of devices.</summary>
internal sealed record MailboxSettings
{
    // A mailbox is one device's; 10,000 events of 300 B to each of 100,000 devices would be 300 GB of journal already.

    /// <summary>Events that one device's mailbox holds; over it the oldest bulk goes first. Default 500.</summary>
    [WholeNumber(1, 10_000)]
    public int Items { get; set; } = new HubOptions().MailboxItems;
}

/// <summary>Push addresses.</summary>
internal sealed record AddressSettings
{
    /// <summary>Whether push addresses that no app has confirmed for 270 days are deleted, not only reported. Default false.</summary>
    public bool RemoveStale { get; set; }

    /// <summary>
    /// Push addresses that client tokens may move to one user from others within an hour, and from one user; then 429. 0 = any number. Publisher keys are not counted. Default 20.
    /// </summary>
    [WholeNumber(0, int.MaxValue)]
    public int MovesPerHour { get; set; } = 20;
}

/// <summary>The console.</summary>
internal sealed record ConsoleSettings
{
    /// <summary>
    /// Names and addresses, without ports, under which a browser may ask for the console: a list, or one text parted by semicolons. Those of OperationsUrls and this machine's
    /// loopback need none (against DNS rebinding). A proxy in front may end TLS; it passes on the Host that the browser asked for. Default none.
    /// </summary>
    [HostNames]
    public string[] HostNames { get; set; } = [];
}

/// <summary>Spans of events for a collector.</summary>
internal sealed record TracingSettings
{
    /// <summary>
    /// Address that takes spans by OTLP over HTTP, such as http://collector:4318/v1/traces. It gets what became of events whose POST had a sampled traceparent: accepted, on a socket, taken by a provider.
    /// Default none.
    /// </summary>
    [CollectorAddress]
    public string? Otlp { get; set; }
}
