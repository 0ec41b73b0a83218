using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox;

/// <summary>The sandbox alone, as a program: <c>pnh sandbox</c>.</summary>
public static class SandboxProgram
{
    /// <summary>
    /// Starts the sandbox, prints where it is and how to point a hub at it, and runs until cancelled.
    /// </summary>
    /// <returns>The exit code: 0 after a cancellation, 1 when it could not start (the reason is printed, in one line).</returns>
    public static async Task<int> RunAsync(SandboxOptions options, TextWriter output, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(output);
        SandboxServer server;
        try
        {
            server = await SandboxServer.StartAsync(options, cancellationToken);
        }
        catch (SandboxException e)
        {
            await output.WriteLineAsync(e.Message);
            return 1;
        }
        catch (OperationCanceledException)
        {
            return 0;
        }

        await using (server)
        {
            await output.WriteLineAsync(Describe(server).AsMemory(), CancellationToken.None);
            await output.FlushAsync(CancellationToken.None);
            TaskCompletionSource stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);
            await using (cancellationToken.UnsafeRegister(_ => stopped.TrySetResult(), null))
            {
                await stopped.Task;
            }
        }

        return 0;
    }

    private static string Describe(SandboxServer server)
    {
        SandboxCredentials credentials = server.Credentials;
        string apns = server.ApnsAddress.GetLeftPart(UriPartial.Authority);
        string fcm = server.FcmAddress.GetLeftPart(UriPartial.Authority);
        return $$"""
            APNs stand-in   {{apns}}
            FCM, OAuth      {{fcm}}
            Web Push        curl --cacert '{{credentials.CaFile}}' {{fcm}}/sandbox/browsers/NAME
            Phones          curl --cacert '{{credentials.CaFile}}' {{fcm}}/sandbox/phones
            Script          curl --cacert '{{credentials.CaFile}}' -X PUT -d '{"kind":"unregistered"}' {{fcm}}/sandbox/scripts/ADDRESS

            To send a hub's pushes here, start it with (app "demo"; the topic is any bundle id; key and secret are new ones):
            export SSL_CERT_FILE='{{credentials.CaFile}}'
            export Pnh__Apps__demo__Keys__0__Secret={{NewSecret()}}
            export Pnh__Apps__demo__Keys__0__Scopes='send register read admin'
            export Pnh__Apps__demo__Tokens__Hs256Secret={{NewSecret()}}
            export Pnh__Apps__demo__Apns__0__TeamId={{credentials.TeamId}}
            export Pnh__Apps__demo__Apns__0__KeyId={{credentials.KeyId}}
            export Pnh__Apps__demo__Apns__0__KeyFile='{{credentials.KeyFile}}'
            export Pnh__Apps__demo__Apns__0__Topic=com.example.demo
            export Pnh__Apps__demo__Apns__0__Environment=sandbox
            export Pnh__Apps__demo__Apns__0__BaseAddress={{apns}}
            export Pnh__Apps__demo__Fcm__0__ServiceAccountFile='{{credentials.ServiceAccountFile}}'
            export Pnh__Apps__demo__Fcm__0__BaseAddress={{fcm}}
            export Pnh__Apps__demo__WebPush__0__Subject=mailto:ops@example.com
            export Pnh__Apps__demo__WebPush__0__KeyFile='{{credentials.VapidKeyFile}}'
            export Pnh__Apps__demo__WebPush__0__AllowedHosts={{server.FcmAddress.Authority}}
            export Pnh__Apps__demo__WebPush__0__AllowLoopback=true
            """;
    }

    private static string NewSecret() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32));
}
