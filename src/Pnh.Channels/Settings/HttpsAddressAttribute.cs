using System.ComponentModel.DataAnnotations;

namespace Pnh.Channels.Settings;

/// <summary>The rule of a provider's address: https, without a path.</summary>
[AttributeUsage(AttributeTargets.Property)]
internal sealed class HttpsAddressAttribute : ValidationAttribute
{
    public override bool IsValid(object? value) => value is not string text
        || (Uri.TryCreate(text, UriKind.Absolute, out var address) && address.Scheme == Uri.UriSchemeHttps && address.AbsolutePath == "/");

    public override string FormatErrorMessage(string name) => "not an https address without a path";
}
