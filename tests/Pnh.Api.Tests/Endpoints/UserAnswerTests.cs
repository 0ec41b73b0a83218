using System.Buffers;
using System.IO.Pipelines;
using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Api.Endpoints;
using Pnh.Core.Users;

namespace Pnh.Api.Tests.Endpoints;

public sealed class UserAnswerTests
{
    [Fact]
    public async Task Write_ManyDevices_AreSentInPieces()
    {
        var devices = Enumerable.Range(0, 5_000)
            .Select(static i => new Device { Id = $"device-{i}", Platform = Platform.Web, AppVersion = new string('"', 64), RegisteredAt = DateTimeOffset.UnixEpoch })
            .ToArray();
        var output = new MeasuredWriter();

        await UserEndpoints.WriteAsync(output, new DeviceJson([]), "u", new UserSnapshot(devices, UserSettings.Default), [], CancellationToken.None);

        var answer = JsonSerializer.Deserialize<JsonElement>(output.Written);
        Assert.Equal(5_000, answer.GetProperty("devices").GetArrayLength());
        Assert.Equal("u", answer.GetProperty("user").GetString());
        Assert.InRange(output.MostUnflushed, 1, 32 * 1024);
        Assert.Equal(0, output.Unflushed);
    }

    /// <summary>Counts what waits for a flush.</summary>
    private sealed class MeasuredWriter : PipeWriter
    {
        private readonly ArrayBufferWriter<byte> _bytes = new();

        public ReadOnlySpan<byte> Written => _bytes.WrittenSpan;

        public long Unflushed { get; private set; }

        public long MostUnflushed { get; private set; }

        public override void Advance(int bytes)
        {
            _bytes.Advance(bytes);
            Unflushed += bytes;
            MostUnflushed = Math.Max(MostUnflushed, Unflushed);
        }

        public override Memory<byte> GetMemory(int sizeHint = 0) => _bytes.GetMemory(sizeHint);

        public override Span<byte> GetSpan(int sizeHint = 0) => _bytes.GetSpan(sizeHint);

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
        {
            Unflushed = 0;
            return ValueTask.FromResult(new FlushResult(isCanceled: false, isCompleted: false));
        }

        public override void CancelPendingFlush()
        {
        }

        public override void Complete(Exception? exception = null)
        {
        }
    }
}
