using System.Diagnostics;
using Pnh.Sandbox.Credentials;
using Pnh.Sandbox.Tests.Apns;
using Pnh.Sandbox.Tests.Fcm;
using Pnh.TestKit;

namespace Pnh.Sandbox.Tests;

/// <summary>A client that shares nothing with .NET: node's own HTTP/2, JSON and crypto, from the files alone.</summary>
public sealed class NodeClientTests
{
    private const string Script = """
        const fs = require('fs'), http2 = require('http2'), crypto = require('crypto');
        const [ca, keyFile, keyId, teamId, accountFile, apns, fcm, apnsToken, fcmToken, now] = process.argv.slice(1);
        const b64 = data => Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)).toString('base64url');
        const jwt = (header, claims, key, options) => {
          const signed = b64(header) + '.' + b64(claims);
          return signed + '.' + crypto.sign('sha256', Buffer.from(signed), { key, ...options }).toString('base64url');
        };
        const connect = url => http2.connect(url, { ca: fs.readFileSync(ca) });
        const post = (session, headers, body) => new Promise((resolve, reject) => {
          const stream = session.request({ ':method': 'POST', ...headers });
          let status, text = '';
          stream.on('response', h => status = h[':status']).on('data', d => text += d).on('error', reject);
          stream.on('end', () => resolve({ status, text })).end(body);
        });
        (async () => {
          const apple = connect(apns);
          const token = jwt({ alg: 'ES256', kid: keyId }, { iss: teamId, iat: +now }, fs.readFileSync(keyFile), { dsaEncoding: 'ieee-p1363' });
          const headers = { authorization: 'bearer ' + token, 'apns-push-type': 'alert', 'apns-topic': 'com.example.demo' };
          const push = await post(apple, { ...headers, ':path': '/3/device/' + apnsToken }, JSON.stringify({ aps: { alert: 'from node' } }));
          const bad = await post(apple, { ...headers, ':path': '/3/device/xyz' }, JSON.stringify({ aps: { alert: 'a' } }));
          const streams = apple.remoteSettings.maxConcurrentStreams;
          apple.close();
          const google = connect(fcm);
          const account = JSON.parse(fs.readFileSync(accountFile));
          const assertion = jwt({ alg: 'RS256', kid: account.private_key_id }, { iss: account.client_email, aud: account.token_uri,
            scope: 'https://www.googleapis.com/auth/firebase.messaging', iat: +now, exp: +now + 3600 }, account.private_key);
          const grant = JSON.parse((await post(google, { ':path': '/token', 'content-type': 'application/x-www-form-urlencoded' },
            new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString())).text);
          const send = await post(google, { ':path': `/v1/projects/${account.project_id}/messages:send`, 'content-type': 'application/json',
            authorization: 'Bearer ' + grant.access_token }, JSON.stringify({ message: { token: fcmToken, notification: { body: 'from node' } } }));
          google.close();
          console.log([push.status, bad.status, JSON.parse(bad.text).reason, streams, send.status].join(' '));
        })().catch(e => { console.error(e); process.exit(1); });
        """;

    [RequiresFactAttribute("node")]
    public async Task Node_PushesThroughBoth_AcceptedAndShown()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        SandboxCredentials files = sandbox.Server.Credentials;
        string iPhone = ApnsCaller.NewAddress();
        string android = FcmCaller.NewAddress();

        string output = await RunAsync(files.CaFile, files.KeyFile, files.KeyId, files.TeamId, files.ServiceAccountFile,
            sandbox.Server.ApnsAddress.AbsoluteUri, sandbox.Server.FcmAddress.AbsoluteUri, iPhone, android,
            sandbox.Now.ToUnixTimeSeconds().ToString(System.Globalization.CultureInfo.InvariantCulture));

        Assert.Equal("200 400 BadDeviceToken 1000 200", output.Trim());
        Assert.Equal("from node", Assert.Single(sandbox.Server.Phones.Find(iPhone)!.LockScreen).Body);
        Assert.Equal("from node", Assert.Single(sandbox.Server.Phones.Find(android)!.LockScreen).Body);
    }

    private static async Task<string> RunAsync(params string[] arguments)
    {
        using CancellationTokenSource timeout = new(SandboxUnderTest.Patience);
        ProcessStartInfo start = new("node", ["-e", Script, "--", .. arguments]) { RedirectStandardOutput = true, RedirectStandardError = true };
        using Process node = Process.Start(start)!;
        try
        {
            Task<string> errors = node.StandardError.ReadToEndAsync(timeout.Token);
            string output = await node.StandardOutput.ReadToEndAsync(timeout.Token);
            await node.WaitForExitAsync(timeout.Token);
            Assert.Equal("", await errors);
            return output;
        }
        finally
        {
            if (!node.HasExited)
            {
                node.Kill();
            }
        }
    }
}
