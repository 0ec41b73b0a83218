using Pnh.Api.WebConsole;
using Pnh.Core.Users;
using Pnh.Sandbox.Phones;

namespace Pnh.Api.Tests.ConsolePage;

public sealed class PhoneShelfTests
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);

    [Fact]
    public void Arrange_AddressesOfOneName_AreOnePhone()
    {
        var phones = PhoneShelf.Arrange([
            Address("bb", "Ada's iPhone", 2, Shown("second", 2)), Address("aa", "Ada's iPhone", 3, Shown("third", 3), Shown("first", 1)), Address("cc", "Grace's", 1)]);

        Assert.Equal(["Ada's iPhone", "Grace's"], phones.Select(static phone => phone.Name));
        Assert.Equal((Platform.Ios, 5), (phones[0].Platform, phones[0].Received));
        Assert.Equal(["third", "second", "first"], phones[0].LockScreen.Select(static item => item.Title));
    }

    [Fact]
    public void Arrange_UnnamedOfOneCaption_HaveKeysOfTheirOwnWithoutTheAddress()
    {
        var (one, two) = (new string('1', 58) + "abcdef", new string('2', 58) + "abcdef");

        var phones = PhoneShelf.Arrange([Address(two, null, 1), Address("x", "Zoe's", 1), Address(one, null, 1)]);

        Assert.Equal(["Zoe's", "iPhone …abcdef", "iPhone …abcdef"], phones.Select(static phone => phone.Name));
        Assert.Equal(3, phones.Select(static phone => phone.Key).Distinct().Count());
        Assert.DoesNotContain(phones, phone => phone.Key.Contains("abcdef", StringComparison.Ordinal));
        Assert.Equal(phones.Select(static phone => phone.Key), PhoneShelf.Arrange([Address(one, null, 9), Address(two, null, 9), Address("x", "Zoe's", 9)]).Select(static phone => phone.Key));
    }

    [Fact]
    public void Arrange_AnUnnamedAddressThatIsSomebodysName_IsAPhoneOfItsOwn()
    {
        var phones = PhoneShelf.Arrange([Address("laptop", null, 1, PhonePlatform.Browser), Address("aa", "laptop", 1, PhonePlatform.Browser)]);

        Assert.Equal(["laptop", "laptop"], phones.Select(static phone => phone.Name));
        Assert.Equal(2, phones.Select(static phone => phone.Key).Distinct().Count());
    }

    private static Phone Address(string address, string? name, long received, params ShownNotification[] shown) =>
        new(address, PhonePlatform.Ios, name, received, shown, [], []);

    private static Phone Address(string address, string? name, long received, PhonePlatform platform) => new(address, platform, name, received, [], [], []);

    private static ShownNotification Shown(string title, int minutes) => new(title, "", Noon.AddMinutes(minutes), "alert", "10", null, null, "{}");
}
