using System.ComponentModel.DataAnnotations;
using Microsoft.Extensions.Options;
using Pnh.Storage.Segments;

namespace Pnh.Api.Configuration;

/// <summary>The rule of addresses that a listener may have.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class ListenAddressesAttribute : ValidationAttribute
{
    public override bool IsValid(object? value) => value is not string[] texts || texts.All(static text => ListenAddress.TryParse(text, out _));

    public override string FormatErrorMessage(string name) =>
        "must be addresses like http://localhost:8080 or http://*:8080 (localhost, an IP address or *), parted by semicolons";
}

/// <summary>The rule of a choice between two transports.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class TransportShareAttribute : ValidationAttribute
{
    public override bool IsValid(object? value) => value is not string text || TransportOption.TryParse(text, out _);

    public override string FormatErrorMessage(string name) => "must be Framework, Direct, or a share like Direct:25%";
}

/// <summary>The rule of names of hosts as a Host header has them, without ports.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class HostNamesAttribute : ValidationAttribute
{
    protected override ValidationResult? IsValid(object? value, ValidationContext validationContext) => ((string[]?)value)?.FirstOrDefault(static name => !IsName(name)) is { } wrong
        ? new($"'{wrong}' is no host name; use names like hub.internal or addresses like 10.0.0.7 or [fd00::7], without http:// and without a port", [validationContext.MemberName!])
        : null;

    // An IPv6 address stands in brackets there.
    private static bool IsName(string name) => name.StartsWith('[') == name.EndsWith(']')
        && (name.StartsWith('[') ? Uri.CheckHostName(name[1..^1]) == UriHostNameType.IPv6 : Uri.CheckHostName(name) is UriHostNameType.Dns or UriHostNameType.IPv4);
}

/// <summary>The rule of origins of web pages.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class WebOriginsAttribute : ValidationAttribute
{
    protected override ValidationResult? IsValid(object? value, ValidationContext validationContext) => ((string[]?)value)?.FirstOrDefault(static text => !Access.Origins.IsOrigin(text)) is { } wrong
        ? new($"'{wrong}' is no origin; use what the browser sends, like https://app.example.com, http://localhost:5173 or capacitor://localhost, without a path; https://*.example.com for all hosts below, or * for any", [validationContext.MemberName!])
        : null;
}

/// <summary>The rule of a node's name.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class NodeNameAttribute : ValidationAttribute
{
    public override bool IsValid(object? value) => value is not string text || (text.Length is > 0 and <= 128 && !text.Any(char.IsControl));

    public override string FormatErrorMessage(string name) => "must be a name of 1 to 128 printable characters";
}

/// <summary>The rule of addresses of a hub.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class HubAddressesAttribute : ValidationAttribute
{
    public override bool IsValid(object? value) => value is not string[] texts || texts.All(static text => ClusterOptions.HubAddress(text) is not null);

    public override string FormatErrorMessage(string name) => "must be addresses like https://hub:9091, without a path, parted by semicolons";
}

/// <summary>The rule of a collector's address.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class CollectorAddressAttribute : ValidationAttribute
{
    public override bool IsValid(object? value) => value is not string text
        || (Uri.TryCreate(text, UriKind.Absolute, out var address) && (address.Scheme == Uri.UriSchemeHttp || address.Scheme == Uri.UriSchemeHttps) && address.AbsolutePath.Length > 1);

    public override string FormatErrorMessage(string name) => "must be the whole address that takes spans, like http://collector:4318/v1/traces";
}

[OptionsValidator]
internal sealed partial class NodeRules : IValidateOptions<NodeSettings>;

[OptionsValidator]
internal sealed partial class EdgeNodeRules : IValidateOptions<EdgeNodeSettings>;

[OptionsValidator]
internal sealed partial class ClusterRules : IValidateOptions<ClusterSettings>;

[OptionsValidator]
internal sealed partial class EdgeRules : IValidateOptions<EdgeSettings>;

[OptionsValidator]
internal sealed partial class SandboxRules : IValidateOptions<SandboxPorts>;

[OptionsValidator]
internal sealed partial class ClassRules : IValidateOptions<ClassSettings>;

[OptionsValidator]
internal sealed partial class OriginRules : IValidateOptions<OriginSettings>;

[OptionsValidator]
internal sealed partial class SocketRules : IValidateOptions<SocketSettings>;

[OptionsValidator]
internal sealed partial class LimitRules : IValidateOptions<LimitSettings>;

[OptionsValidator]
internal sealed partial class LaneRules : IValidateOptions<LaneSettings>;

[OptionsValidator]
internal sealed partial class MailboxRules : IValidateOptions<MailboxSettings>;

[OptionsValidator]
internal sealed partial class AddressRules : IValidateOptions<AddressSettings>;

[OptionsValidator]
internal sealed partial class ConsoleRules : IValidateOptions<ConsoleSettings>;

[OptionsValidator]
internal sealed partial class TracingRules : IValidateOptions<TracingSettings>;

[OptionsValidator]
internal sealed partial class JournalRules : IValidateOptions<JournalOptions>;
