using Microsoft.Extensions.Configuration;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Channels.Settings;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Storage.Segments;

namespace Pnh.Api.Tests.Configuration;

public sealed class PnhConfigurationTests
{
    private const string Secret = "a-publisher-key-of-some-length";
    private const string Hs256 = "0123456789abcdef0123456789abcdef";

    [Theory]
    [InlineData("App shop has no key, no token secret and no provider", "Apps:shop:Origins", "https://app.example.com")]
    [InlineData("No app is configured", "Urls", "http://0.0.0.0:8080")]
    [InlineData(null, "Apps:shop:Keys:0:Secret", "0123456789abcdef0123", "Apps:shop:Keys:0:Scopes", "send")]
    [InlineData(null, "Apps:demo:Origins", "https://app.example.com")]
    [InlineData("App demo lists the origin null", "Apps:demo:Origins", "https://app.example.com;null")]
    public void Doubts_WhatServesNobodyOrManyPages_IsSaid(string? doubt, params string[] pairs)
    {
        var (options, _) = Read([.. pairs.Chunk(2).Select(static pair => (pair[0], pair[1]))]);
        Assert.Equal(doubt is not null, options.Doubts.Any());
        Assert.All(options.Doubts, said => Assert.StartsWith(doubt!, said, StringComparison.Ordinal));
    }

    [Fact]
    public void Read_NothingSet_GivesTheDefaultsOfAFirstStart()
    {
        var (options, errors) = Read();

        Assert.True(errors.None);
        Assert.Equal("/home/somebody/pnh-data", options.Data);
        Assert.Equal("http://localhost:8080", Assert.Single(options.Urls).ToString());
        Assert.Equal("http://localhost:9090", Assert.Single(options.OperationsUrls).ToString());
        Assert.Equal(StoreEngine.Sqlite, options.Store);
        Assert.Null(options.Sandbox);
        Assert.Equal((8443, 8444), (options.SandboxPorts.Apns, options.SandboxPorts.Fcm));
        Assert.Empty(options.Apps);
        Assert.True(options.IsFirstStart);
    }

    [Fact]
    public void Read_EverythingSet_GivesItAll()
    {
        var (options, errors) = Read(
            ("Data", "elsewhere"), ("Urls", "http://127.0.0.1:1;https://[::1]:2"), ("OperationsUrls:0", "http://*:3"), ("Store", "Postgres"),
            ("Postgres", "Host=db"), ("Sandbox", "true"), ("SandboxPorts:Apns", "0"), ("SandboxPorts:Fcm", "0"),
            ("Apps:shop:Keys:0:Secret", Secret), ("Apps:shop:Keys:0:Scopes", "send read"),
            ("Apps:shop:Keys:ops:SecretHash", KeyHash.Of("another key of the shop").ToHex()), ("Apps:shop:Keys:ops:Scopes", "admin"),
            ("Apps:shop:Tokens:Hs256Secret", Hs256), ("Apps:shop:Tokens:Audience", "shop-clients"),
            ("Classes:call:Ttl", "00:00:45"), ("Classes:call:AckWithin", "00:00:01"), ("Sockets:Transport", "direct:25%"), ("Lanes:Transport", "Direct"));

        Assert.Empty(errors.All);
        Assert.Equal("/home/somebody/elsewhere", options.Data);
        Assert.Equal(["http://127.0.0.1:1", "https://[::1]:2"], options.Urls.Select(static url => url.ToString()));
        Assert.False(options.IsLoopbackOnly);
        Assert.False(options.IsFirstStart);
        Assert.Equal((StoreEngine.Postgres, "Host=db", true), (options.Store, options.Postgres, options.Sandbox));
        var app = options.Apps["shop"];
        Assert.Equal([(KeyHash.Of(Secret), Scope.Send | Scope.Read), (KeyHash.Of("another key of the shop"), Scope.Admin)], app.Keys.Select(static key => (key.Hash, key.Scopes)));
        Assert.Equal((Hs256, "shop-clients"), (app.Tokens!.Hs256Secret, app.Tokens.Audience));
        Assert.Equal(new ClassSettings { Ttl = TimeSpan.FromSeconds(45), AckWithin = TimeSpan.FromSeconds(1) }, options.Classes[EventClass.Call]);
        Assert.Equal((25, 100), (options.SocketsTransport.DirectPercent, options.LanesTransport.DirectPercent));
    }

    [Fact]
    public void Read_ManyMistakes_ReportsAllAtOnceWithTheirPaths()
    {
        var (_, errors) = Read(
            ("Dta", "x"), ("Urls", "ftp://x"), ("Store", "redis"), ("Sandbox", "maybe"), ("SandboxPorts:Apns", "70000"),
            ("Apps:Shop:Keys:0:Secret", Secret), ("Apps:a:Keys:0:Secret", "short"), ("Apps:a:Keys:0:Scopes", "send sned"), ("Apps:a:Keys:1:Scopes", "send"),
            ("Apps:a:Keys:2:SecretHash", "beef"), ("Apps:a:Keys:2:Scopes", ""), ("Apps:a:Keys:3:Secrets", Secret), ("Apps:a:Tokens:Hs256Secret", "short"),
            ("Apps:b:Tokens:Audience", "x"), ("Apps:c:Tokens:PublicKeyFile", "/no/such/file"), ("Classes:urgent:Ttl", "00:00:10"),
            ("Classes:call:Ttl", "30"), ("Classes:bulk:Ttl", "29.00:00:00"), ("Sockets:Transport", "Direct:101%"), ("Lanes", "Direct"));

        Assert.Equal(
            [
                "Apps:Shop", "Apps:a:Keys:0:Scopes", "Apps:a:Keys:0:Secret", "Apps:a:Keys:1:Secret", "Apps:a:Keys:2:Scopes", "Apps:a:Keys:2:SecretHash",
                "Apps:a:Keys:3:Scopes", "Apps:a:Keys:3:Secret", "Apps:a:Keys:3:Secrets", "Apps:a:Tokens:Hs256Secret", "Apps:b:Tokens", "Apps:c:Tokens:PublicKeyFile",
                "Classes:bulk:Ttl", "Classes:call:Ttl", "Classes:urgent", "Dta", "Lanes", "Sandbox", "SandboxPorts:Apns", "Sockets:Transport", "Store", "Urls",
            ],
            errors.All.Select(static error => error.Path["Pnh:".Length..]).Order(StringComparer.Ordinal));
        Assert.All(errors.All, static error => Assert.NotEmpty(error.Message));
    }

    [Fact]
    public void Read_EnginesNotSet_GivesTheirOwnDefaults()
    {
        var options = Read().Options;

        Assert.Equal(new JournalOptions(), options.Journal);
        Assert.Equal((500, 500), (options.Mailbox.Items, options.ToHubOptions().MailboxItems));
        Assert.Equal((20, 7), (options.Addresses.MovesPerHour, Read(("Addresses:MovesPerHour", "7")).Options.Addresses.MovesPerHour));
        Assert.Equal("Pnh:Addresses:MovesPerHour", Assert.Single(Read(("Addresses:MovesPerHour", "-1")).Errors.All).Path);
        Assert.Empty(options.ToHubOptions().SendingApps);
        Assert.All(typeof(WebSocketServerOptions).GetProperties(), property =>
            Assert.Equal(property.GetValue(new WebSocketServerOptions()), property.GetValue(options.Sockets)));
    }

    [Fact]
    public void Read_EnginesSet_GivesItAll()
    {
        var (options, errors) = Read(
            ("Journal:Retention", "48:00:00"), ("Journal:SegmentBytes", "1048576"), ("Journal:MaxBytes", "10737418240"), ("Journal:OnDamage", "Quarantine"), ("Journal:OnForeignRegistry", "accept"),
            ("Mailbox:Items", "10000"), ("Apps:a:ClientSend", "true"), ("Apps:b:ClientSend", "false"), ("Apps:c:Keys:0:Secret", Secret), ("Apps:c:Keys:0:Scopes", "send"));

        Assert.Empty(errors.All);
        Assert.Equal(
            new JournalOptions { Retention = TimeSpan.FromDays(2), SegmentBytes = 1 << 20, MaxBytes = 10L << 30, OnDamage = DamagePolicy.Quarantine, OnForeignRegistry = ForeignRegistryPolicy.Accept }, options.Journal);
        Assert.Equal(10_000, options.ToHubOptions().MailboxItems);
        Assert.Equal(["a"], options.ToHubOptions().SendingApps);
    }

    [Fact]
    public void Read_EverySocketOption_ReachesTheOptionOfItsName()
    {
        // Found by name, so that an option that comes later is not forgotten.
        var members = typeof(WebSocketServerOptions).GetProperties();

        var (options, errors) = Read([.. members.Select(static (member, n) => (
            $"Sockets:{member.Name}", member.PropertyType == typeof(TimeSpan) ? $"00:00:{n + 10}" : $"{4_000 + n}"))]);

        Assert.Empty(errors.All);
        Assert.All(members.Index(), pair => Assert.Equal(
            pair.Item.PropertyType == typeof(TimeSpan) ? TimeSpan.FromSeconds(pair.Index + 10) : (object)(4_000 + pair.Index), pair.Item.GetValue(options.Sockets)));
    }

    [Fact]
    public void Read_EngineMistakes_ReportsAllAtOnceWithTheirPaths()
    {
        var (_, errors) = Read(
            ("Journal:Retention", "00:00:00"), ("Journal:SegmentBytes", "1000"), ("Journal:MaxBytes", "1"), ("Journal:OnDamage", "ignore"), ("Journal:OnForeignRegistry", "ignore"), ("Journal:Engine", "x"),
            ("Mailbox:Items", "10001"), ("Mailbox:Bytes", "1"), ("Apps:a:ClientSend", "yes"),
            ("Sockets:Linger", "02:00:00"), ("Sockets:QueueItems", "1"), ("Sockets:MaxTopics", "-1"), ("Sockets:HelloTimeout", "00:00:00"), ("Sockets:SweepInterval", "00:00:01"));

        Assert.Equal(
            [
                "Apps:a:ClientSend", "Journal:Engine", "Journal:MaxBytes", "Journal:OnDamage", "Journal:OnForeignRegistry", "Journal:Retention", "Journal:SegmentBytes", "Mailbox:Bytes", "Mailbox:Items",
                "Sockets:HelloTimeout", "Sockets:Linger", "Sockets:MaxTopics", "Sockets:QueueItems", "Sockets:SweepInterval",
            ],
            errors.All.Select(static error => error.Path["Pnh:".Length..]).Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("Store", "postgres", "Pnh:Postgres")]
    [InlineData("Postgres", "Host=db", "Pnh:Postgres")]
    [InlineData("OperationsUrls", "http://127.0.0.1:8080", "Pnh:OperationsUrls")]
    [InlineData("SandboxPorts:Fcm", "8443", "Pnh:SandboxPorts:Fcm")]
    public void Read_SettingsThatContradict_AreAnError(string key, string value, string path) =>
        Assert.Equal(path, Assert.Single(Read((key, value)).Errors.All).Path);

    [Fact]
    public void Read_SameKeyOrAudienceTwice_IsAnError()
    {
        var (_, errors) = Read(
            ("Apps:a:Keys:0:Secret", Secret), ("Apps:a:Keys:0:Scopes", "send"), ("Apps:b:Keys:0:SecretHash", KeyHash.Of(Secret).ToHex()), ("Apps:b:Keys:0:Scopes", "send"),
            ("Apps:a:Tokens:Hs256Secret", Hs256), ("Apps:b:Tokens:Hs256Secret", Hs256), ("Apps:b:Tokens:Audience", "a"));

        Assert.Equal(["Pnh:Apps:b:Keys:0", "Pnh:Apps:b:Tokens:Audience"], errors.All.Select(static error => error.Path));
    }

    [Fact]
    public void Read_KeyOfAChannel_IsKnownOnlyWhenTheChannelSaysSo()
    {
        var configuration = Build(("Apps:a:Apns:0:TeamId", "T"), ("Apps:a:Apns:0:TeamID2", "T"));

        var without = PnhConfiguration.Read(configuration, KnownKeys.Hub(), "/").Errors;
        var with = PnhConfiguration.Read(configuration, KnownKeys.Hub().Add("Apps:*:Apns:*:TeamId"), "/").Errors;

        Assert.Equal("Pnh:Apps:a:Apns", Assert.Single(without.All).Path);
        var error = Assert.Single(with.All);
        Assert.Equal("Pnh:Apps:a:Apns:0:TeamID2", error.Path);
        Assert.Contains("TeamId", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Read_EmptyObjectsAndArraysInJson_AreNothing()
    {
        using var json = new MemoryStream("""{"Pnh":{"Apps":{},"Classes":{"call":{}},"Urls":[]}}"""u8.ToArray());
        var (options, errors) = PnhConfiguration.Read(new ConfigurationBuilder().AddJsonStream(json).Build(), KnownKeys.Hub(), "/");

        Assert.Empty(errors.All);
        Assert.Single(options.Urls);
    }

    [Fact]
    public void ToString_AndErrors_NeverShowASecret()
    {
        const string canary = "canary-5f2c";
        var (options, errors) = Read(
            ("Postgres", $"Password={canary}"), ("Store", "postgres"), ("Apps:a:Keys:0:Secret", $"{canary}-key-key-key"), ("Apps:a:Keys:0:Scopes", "send"),
            ("Apps:a:Keys:1:Secret", canary), ("Apps:a:Keys:1:SecretHash", canary), ("Apps:a:Keys:1:Scopes", "send"), ("Apps:a:Tokens:Hs256Secret", canary),
            ("Apps:b:Tokens:Hs256Secret", $"{canary}-0123456789abcdef0123456789abcdef"));
        var output = new StringWriter();
        errors.WriteTo(output);
        output.Write($"{options} {string.Join(' ', options.Apps.Values)} {string.Join(' ', options.Apps.Values.SelectMany(static app => app.Keys))}");
        output.Write(string.Join(' ', options.Apps.Values.Select(static app => app.Tokens)));

        Assert.NotEmpty(errors.All);
        Assert.DoesNotContain(canary, output.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("00:00:30", 30)]
    [InlineData("24:00:00", 86_400)]
    [InlineData("7.00:00:00", 604_800)]
    [InlineData("90s", 90)]
    [InlineData("1h", 3_600)]
    [InlineData("2d", 172_800)]
    public void Duration_KnownForms_AreRead(string text, int seconds)
    {
        Assert.True(DurationText.TryParse(text, out var duration));
        Assert.Equal(TimeSpan.FromSeconds(seconds), duration);
    }

    [Theory]
    [InlineData("")]
    [InlineData("30")]
    [InlineData("h")]
    [InlineData("-1h")]
    [InlineData("1w")]
    [InlineData("00:60:00")]
    [InlineData("00:00")]
    [InlineData("1:2:3:4")]
    [InlineData("00:00:00.500")]
    public void Duration_OtherForms_AreRefused(string text) => Assert.False(DurationText.TryParse(text, out _));

    [Theory]
    [InlineData("00:00:00.500", 500)]
    [InlineData("00:00:01.5", 1_500)]
    [InlineData("00:01:00.007", 60_007)]
    [InlineData("00:00:03", 3_000)]
    public void ClassWaits_WithMilliseconds_AreRead(string text, int milliseconds)
    {
        var (options, errors) = Read(("Classes:call:AckWithin", text), ("Classes:message:PushAfter", text));

        Assert.Empty(errors.All);
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), options.Classes[EventClass.Call].AckWithin);
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), options.ToPolicies()[EventClass.Message].PushAfter);
    }

    [Theory]
    [InlineData("Classes:call:AckWithin", "00:00:00.")]
    [InlineData("Classes:call:AckWithin", "00:00:00.5000")]
    [InlineData("Classes:call:AckWithin", "00:00:00.-5")]
    [InlineData("Classes:call:AckWithin", ".5")]
    [InlineData("Classes:call:AckWithin", "01:00:00.001")]
    [InlineData("Classes:call:Ttl", "00:00:30.5")]
    [InlineData("Journal:Retention", "24:00:00.5")]
    public void Durations_OfOtherForms_AreRefused(string key, string text) =>
        Assert.StartsWith($"Pnh:{key}: must be a duration like 00:00:30", Assert.Single(Read((key, text)).Errors.All).ToString(), StringComparison.Ordinal);

    /// <summary>What stands in docs/configure.md is what holds.</summary>
    [Theory]
    [InlineData(EventClass.Call, "00:00:30", "00:00:00.500", "00:00:00")]
    [InlineData(EventClass.Message, "24:00:00", "00:00:03", "00:00:02")]
    [InlineData(EventClass.Bulk, "06:00:00", "00:00:30", "00:00:00")]
    public void ClassDefaults_AsThePageHasThem_CanBeWritten(EventClass @class, string ttl, string ackWithin, string pushAfter)
    {
        var (options, errors) = Read(($"Classes:{@class}:Ttl", ttl), ($"Classes:{@class}:AckWithin", ackWithin), ($"Classes:{@class}:PushAfter", pushAfter));

        Assert.Empty(errors.All);
        Assert.Equal(ClassPolicies.Default[@class], options.ToPolicies()[@class]);
    }

    [Theory]
    [InlineData("hub.internal; 10.0.0.7;[fd00::7]", 3)]
    [InlineData("hub", 1)]
    [InlineData("", 0)]
    public void ConsoleHostNames_Names_AreRead(string text, int count)
    {
        var (options, errors) = Read(("Console:HostNames", text));

        Assert.Empty(errors.All);
        Assert.Equal(count, options.Console.HostNames.Length);
    }

    [Theory]
    [InlineData("http://hub.internal")]
    [InlineData("hub.internal:9090")]
    [InlineData("fd00::7")]
    [InlineData("[10.0.0.7]")]
    [InlineData("*")]
    public void ConsoleHostNames_OtherForms_AreRefused(string text) =>
        Assert.StartsWith($"Pnh:Console:HostNames: '{text}' is no host name", Assert.Single(Read(("Console:HostNames:0", text)).Errors.All).ToString(), StringComparison.Ordinal);

    [Theory]
    [InlineData("http://localhost:8080", true, "http://localhost:8080/")]
    [InlineData("https://[::1]:1", true, "https://[::1]:1/")]
    [InlineData("http://*:5", false, "http://localhost:5/")]
    [InlineData("http://0.0.0.0:5/", false, "http://localhost:5/")]
    [InlineData("http://10.0.0.7", false, "http://10.0.0.7/")]
    public void ListenAddress_KnownForms_AreRead(string text, bool isLoopback, string client)
    {
        Assert.True(ListenAddress.TryParse(text, out var address));
        Assert.Equal((isLoopback, client), (address.IsLoopback, address.ToClientUri().ToString()));
    }

    [Theory]
    [InlineData("localhost:8080")]
    [InlineData("http://example.com:80")]
    [InlineData("http://localhost:80800")]
    [InlineData("http://localhost:8080/path")]
    [InlineData("http://user@localhost:8080")]
    [InlineData("http://::1:80")]
    [InlineData("http://")]
    public void ListenAddress_OtherForms_AreRefused(string text) => Assert.False(ListenAddress.TryParse(text, out _));

    [Theory]
    [InlineData("Framework", 0)]
    [InlineData("direct", 100)]
    [InlineData("Direct:0%", 0)]
    [InlineData("Direct:25%", 25)]
    public void Transport_Share_IsExactOverAnyHundredInARow(string text, int percent)
    {
        Assert.True(TransportOption.TryParse(text, out var option));
        Assert.Equal(percent, Enumerable.Range(1234, 100).Count(number => option.IsDirect(number)));
    }

    private static ConfigurationResult Read(params (string Key, string Value)[] pairs) =>
        PnhConfiguration.Read(Build(pairs), KnownKeys.Hub(), "/home/somebody");

    private static IConfigurationRoot Build(params (string Key, string Value)[] pairs) =>
        new ConfigurationBuilder().AddInMemoryCollection(pairs.Select(static pair => KeyValuePair.Create($"Pnh:{pair.Key}", (string?)pair.Value))).Build();
}
