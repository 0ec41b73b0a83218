using System.Net;

namespace Pnh.Api.Listeners;

/// <summary>
/// An address that the direct transport shall listen on. The mark is the type: with port 0 nothing else tells the public listener's address
/// from the operations one.
/// </summary>
internal sealed class DirectEndPoint(IPAddress address, int port) : IPEndPoint(address, port);
