using Pnh.Api.Problems;

namespace Pnh.Api.WebConsole;

/// <summary>Checks every request of the console before anything else happens: Host, Origin, then who it is.</summary>
internal static class ConsoleGate
{
    /// <summary>The browser's session. HttpOnly, SameSite=Strict.</summary>
    public const string Cookie = "pnh-console";

    private const string Bearer = "Bearer ";

    /// <summary>
    /// Null when the request may pass. Ports of one machine are one site to a browser, so SameSite does not keep a page of the public
    /// listener out: Origin does, and Sec-Fetch-Site where a GET has no Origin.
    /// </summary>
    public static Problem? CheckOrigin(HttpContext context, ConsoleAccess access)
    {
        var request = context.Request;
        if (!access.IsKnownHost(request.Host))
        {
            return new(ProblemCatalogue.Forbidden, "The Host header is no name of the operations listener; where it is one, add it to Pnh:Console:HostNames.");
        }

        var origin = request.Headers.Origin;
        if (origin.Count > 0)
        {
            return origin.Count == 1 && IsOwn(origin[0]!, request) ? null : OtherOrigin();
        }

        // A browser sends Origin with every POST; what comes without one must bring its key itself, not in a cookie.
        var site = request.Headers["Sec-Fetch-Site"].ToString();
        var crossed = site is "cross-site" or "same-site" && !IsNavigation(request);
        return crossed || (!HttpMethods.IsGet(request.Method) && !HasBearer(request)) ? OtherOrigin() : null;
    }

    /// <summary>True with a live session cookie or an admin key.</summary>
    /// <param name="context">Of the request.</param>
    /// <param name="access">Who knows.</param>
    /// <param name="isRequest">False = of an answer that goes on: it does not keep the session alive.</param>
    public static bool IsSignedIn(HttpContext context, ConsoleAccess access, bool isRequest = true)
    {
        var request = context.Request;
        return HasBearer(request)
            ? access.IsAdmin(KeyOf(request))
            : request.Cookies.TryGetValue(Cookie, out var cookie) && access.IsSignedIn(cookie, isRequest);
    }

    /// <summary>True while who was let in would be again: for an answer that goes on.</summary>
    public static bool MayGoOn(HttpContext context, ConsoleAccess access) => IsSignedIn(context, access, isRequest: false);

    /// <summary>Whether another site's page led here. Browsers say so, but not to a name without TLS that is not this machine's.</summary>
    public static bool IsPerhapsFromAnotherSite(HttpRequest request) => request.Headers["Sec-Fetch-Site"].ToString() is { Length: > 0 } site
        ? site == "cross-site"
        : request.Headers.Accept.ToString().Contains("text/html", StringComparison.OrdinalIgnoreCase);

    /// <summary>Gives the browser its session. An earlier one of it ends: nobody could sign out of that any more.</summary>
    public static void BeginSession(HttpContext context, ConsoleAccess access, string value)
    {
        Forget(context.Request, access);
        context.Response.Cookies.Append(Cookie, value, new CookieOptions
        {
            HttpOnly = true,
            SameSite = SameSiteMode.Strict,
            Secure = IsHttpsForTheBrowser(context.Request),
            Path = ConsoleEndpoints.Path,
            MaxAge = ConsoleSessions.Life,
        });
    }

    /// <summary>Ends the browser's session, here and there.</summary>
    public static void EndSession(HttpContext context, ConsoleAccess access)
    {
        Forget(context.Request, access);
        context.Response.Cookies.Delete(Cookie, new CookieOptions { Path = ConsoleEndpoints.Path });
    }

    private static void Forget(HttpRequest request, ConsoleAccess access)
    {
        if (request.Cookies.TryGetValue(Cookie, out var cookie))
        {
            access.SignOut(cookie);
        }
    }

    /// <summary>
    /// The request's own scheme or https, and its Host: a proxy that ends TLS passes http on, while the browser names https. Never http where the request came
    /// by https: anybody on the way may have written such a page.
    /// </summary>
    private static bool IsOwn(string origin, HttpRequest request) =>
        origin.Equals($"{request.Scheme}://{request.Host.Value}", StringComparison.OrdinalIgnoreCase)
        || origin.Equals($"https://{request.Host.Value}", StringComparison.OrdinalIgnoreCase);

    // CheckOrigin let the Origin pass, so it is the console's own; a link that is followed has none.
    private static bool IsHttpsForTheBrowser(HttpRequest request) =>
        request.IsHttps || request.Headers.Origin.ToString().StartsWith("https://", StringComparison.OrdinalIgnoreCase);

    private static string KeyOf(HttpRequest request) => request.Headers.Authorization.ToString()[Bearer.Length..].Trim();

    private static bool HasBearer(HttpRequest request) =>
        request.Headers.Authorization.ToString().StartsWith(Bearer, StringComparison.OrdinalIgnoreCase);

    /// <summary>Following a link to the page from somewhere else is fine; the page itself tells the other side nothing.</summary>
    private static bool IsNavigation(HttpRequest request) =>
        request.Path == ConsoleEndpoints.Path && request.Headers["Sec-Fetch-Mode"] == "navigate" && request.Headers["Sec-Fetch-Dest"] == "document";

    private static Problem OtherOrigin() => new(ProblemCatalogue.Forbidden, "The request comes from another origin than the console.");
}
