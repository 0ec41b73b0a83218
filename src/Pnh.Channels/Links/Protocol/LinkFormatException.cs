namespace Pnh.Channels.Links.Protocol;

/// <summary>What came over a link is none of its items: the link is to end. The message repeats nothing that came.</summary>
internal sealed class LinkFormatException(string message, Exception? inner = null) : Exception(message, inner);
