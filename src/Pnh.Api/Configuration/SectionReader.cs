using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Options;
using Pnh.Channels.Settings;

namespace Pnh.Api.Configuration;

/// <summary>A section, and where its errors go.</summary>
internal readonly record struct SectionReader(IConfigurationSection Section, ConfigurationErrors Errors)
{
    /// <summary>The section below this one.</summary>
    public SectionReader Of(string key) => new(Section.GetSection(key), Errors);

    /// <summary>Those of any name below this one.</summary>
    public IEnumerable<SectionReader> All()
    {
        var errors = Errors;
        return Section.GetChildren().Select(child => new SectionReader(child, errors));
    }

    /// <summary>A record of settings; its errors are noted.</summary>
    /// <param name="bind">The generated binder, which must see the record's name at the place of its call.</param>
    /// <param name="rules">Null = the record has none.</param>
    public T Read<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] T>(Func<IConfiguration, T?> bind, IValidateOptions<T>? rules = null)
        where T : class, new() => SettingsReader.Read(Section, bind, rules, Error);

    /// <summary>Notes an error at a key.</summary>
    public void Error(string key, string message) => Errors.Add(ConfigurationPath.Combine(Section.Path, key), message);
}
