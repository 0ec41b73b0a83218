using System.Diagnostics.CodeAnalysis;

namespace Pnh.Channels.Settings;

/// <summary>A record of settings and its place. The record's properties are the keys there, so no list repeats them.</summary>
/// <param name="Place">Below <c>Pnh</c>, <c>*</c> for any one name: <c>Apps:*:Keys:*</c>. Empty = directly below it.</param>
/// <param name="Type">The record: flat, with properties of type text, list of texts, whole number, duration, enumeration or true and false.</param>
internal sealed record SettingsGroup(
    string Place,
    [property: DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)]
    [param: DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)]
    Type Type)
{
    /// <summary>Every key, with its place. A list may be one text, or keys below its own.</summary>
    public IEnumerable<string> Keys()
    {
        foreach (var property in Type.GetProperties())
        {
            var key = Place.Length == 0 ? property.Name : $"{Place}:{property.Name}";
            yield return key;
            if (property.PropertyType == typeof(string[]))
            {
                yield return key + ":*";
            }
        }
    }
}
