namespace Pnh.Sandbox.Fcm;

/// <summary>
/// The message schema of FCM HTTP v1, after its discovery document (fcm.googleapis.com/$discovery/rest?version=v1) and the REST
/// reference of <c>projects.messages</c> for what is younger: <c>fid</c>, <c>live_activity_token</c>, <c>proxy</c>, the satellite and bandwidth flags.
/// </summary>
internal static class FcmSchema
{
    private const string Prefix = "type.googleapis.com/google.firebase.fcm.v1.";

    private static readonly FcmShape Options = new(Text("analytics_label"));

    private static readonly FcmShape Notification = new(Text("title"), Text("body"), Text("image"));

    private static readonly FcmShape Color = new(Float("red"), Float("green"), Float("blue"), Float("alpha"));

    private static readonly FcmShape LightSettings =
        new(Nested("color", Color), Duration("light_on_duration"), Duration("light_off_duration"));

    private static readonly FcmShape AndroidNotification = new(
        Text("title"), Text("body"), Text("icon"), Text("color"), Text("sound"), Text("tag"), Text("click_action"),
        Text("body_loc_key"), Texts("body_loc_args"), Text("title_loc_key"), Texts("title_loc_args"), Text("channel_id"), Text("ticker"),
        Flag("sticky"), new FcmField("event_time", FcmType.Timestamp, "type.googleapis.com/google.protobuf.Timestamp"), Flag("local_only"),
        Enumeration("notification_priority", "AndroidNotification.NotificationPriority",
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"),
        Flag("default_sound"), Flag("default_vibrate_timings"), Flag("default_light_settings"),
        Duration("vibrate_timings") with { Repeated = true },
        Enumeration("visibility", "AndroidNotification.Visibility", "VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"),
        new FcmField("notification_count", FcmType.Int32, "TYPE_INT32"), Nested("light_settings", LightSettings), Text("image"),
        Flag("bypass_proxy_notification"),
        Enumeration("proxy", "AndroidNotification.Proxy", "PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"));

    private static readonly FcmShape Android = new(
        Text("collapse_key"), Enumeration("priority", "AndroidMessagePriority", "NORMAL", "HIGH"), Duration("ttl"),
        Text("restricted_package_name"), Map("data"), Nested("notification", AndroidNotification), Nested("fcm_options", Options),
        Flag("direct_boot_ok"), Flag("bandwidth_constrained_ok"), Flag("restricted_satellite_ok"));

    private static readonly FcmShape Apns = new(
        Map("headers"), AnyObject("payload"), Nested("fcm_options", new FcmShape(Text("analytics_label"), Text("image"))),
        Text("live_activity_token"));

    private static readonly FcmShape Webpush = new(
        Map("headers"), Map("data"), AnyObject("notification"), Nested("fcm_options", new FcmShape(Text("link"), Text("analytics_label"))));

    private static readonly FcmShape Message = new(
        Text("name"), Map("data"), Nested("notification", Notification), Nested("android", Android), Nested("webpush", Webpush),
        Nested("apns", Apns), Nested("fcm_options", Options), Text("token"), Text("fid"), Text("topic"), Text("condition"));

    /// <summary>The body of <c>messages:send</c>.</summary>
    public static FcmShape Request { get; } = new(Flag("validate_only"), Nested("message", Message));

    private static FcmField Text(string name) => new(name, FcmType.Text, "TYPE_STRING");

    private static FcmField Texts(string name) => Text(name) with { Repeated = true };

    private static FcmField Flag(string name) => new(name, FcmType.Flag, "TYPE_BOOL");

    private static FcmField Float(string name) => new(name, FcmType.Float, "TYPE_FLOAT");

    private static FcmField Duration(string name) => new(name, FcmType.Duration, "type.googleapis.com/google.protobuf.Duration");

    private static FcmField Map(string name) => new(name, FcmType.TextMap, "map");

    private static FcmField AnyObject(string name) => new(name, FcmType.AnyObject, "type.googleapis.com/google.protobuf.Struct");

    private static FcmField Nested(string name, FcmShape shape) => new(name, FcmType.Message, "message", shape);

    private static FcmField Enumeration(string name, string type, params string[] values) =>
        new(name, FcmType.Enumeration, Prefix + type, Values: values);
}
