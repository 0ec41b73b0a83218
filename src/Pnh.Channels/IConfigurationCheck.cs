namespace Pnh.Channels;

/// <summary>
/// A part of the configuration that can be judged at start. Registered as a service by the owner of the part; the program runs all of them
/// before it listens and prints every error at once.
/// </summary>
public interface IConfigurationCheck
{
    /// <summary>Adds one line per error, each beginning with the full key: <c>Pnh:Apps:demo:Apns:0:KeyFile: file not found</c>. Never a secret.</summary>
    void Check(ICollection<string> errors);

    /// <summary>Adds a line, in the same form, for each thing that a hub starts with and a provider refuses. A start logs it; <c>config check</c> and <c>doctor</c> call it an error.</summary>
    void CheckUse(ICollection<string> errors)
    {
    }
}
