namespace Pnh.Channels.Links.Protocol;

/// <summary>What came over a link is no item: the link has to end. The message repeats nothing that came.</summary>
internal sealed class LinkFormatException(string message, Exception? inner = null) : Exception(message, inner);
