# The hub as an image: built with the SDK, compiled ahead (ReadyToRun) for linux-x64, run by a user without rights on a base without a shell.
# docker build -t pnh . && docker run -p 8080:8080 -v pnh-data:/data -e Pnh__Apps__… pnh

FROM mcr.microsoft.com/dotnet/sdk:10.0-noble AS build
# Time zones for users' quiet hours: the chiseled base has none. tzdata-legacy holds names such as US/Eastern.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tzdata tzdata-legacy \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /image/data \
 && cp -a /usr/share/zoneinfo /image/ \
 && rm -rf /image/zoneinfo/posix /image/zoneinfo/right /image/zoneinfo/localtime /image/zoneinfo/posixrules
WORKDIR /source
# Project and lock files first: packages are fetched again only when these change.
COPY global.json Directory.Build.props Directory.Packages.props BannedSymbols.txt ./
COPY clients/dotnet/Pnh.Client.csproj clients/dotnet/packages.lock.json clients/dotnet/
COPY src/Directory.Build.props src/
COPY src/Pnh.Api/Pnh.Api.csproj src/Pnh.Api/packages.lock.json src/Pnh.Api/
COPY src/Pnh.Channels/Pnh.Channels.csproj src/Pnh.Channels/packages.lock.json src/Pnh.Channels/
COPY src/Pnh.Core/Pnh.Core.csproj src/Pnh.Core/packages.lock.json src/Pnh.Core/
COPY src/Pnh.LoadTest/Pnh.LoadTest.csproj src/Pnh.LoadTest/packages.lock.json src/Pnh.LoadTest/
COPY src/Pnh.Sandbox/Pnh.Sandbox.csproj src/Pnh.Sandbox/packages.lock.json src/Pnh.Sandbox/
COPY src/Pnh.Storage/Pnh.Storage.csproj src/Pnh.Storage/packages.lock.json src/Pnh.Storage/
RUN dotnet restore src/Pnh.Api -r linux-x64 -p:PublishReadyToRun=true --locked-mode
COPY .editorconfig ./
COPY src/ src/
COPY clients/ clients/
COPY docs/ docs/
RUN dotnet publish src/Pnh.Api -c Release -r linux-x64 --self-contained false --no-restore -o /image/app

# Chiseled: no shell, no package manager, user 1654.
FROM mcr.microsoft.com/dotnet/aspnet:10.0-noble-chiseled
COPY --from=build /image/zoneinfo/ /usr/share/zoneinfo/
COPY --from=build --chown=1654:1654 /image/data /data
COPY --from=build /image/app /app
# No diagnostics socket: it would need a writable /tmp, and lets whoever reaches it read the memory.
ENV DOTNET_EnableDiagnostics=0 \
    Pnh__Data=/data \
    Pnh__Urls=http://+:8080 \
    Pnh__OperationsUrls=http://+:9090
WORKDIR /app
VOLUME ["/data"]
EXPOSE 8080 9090
USER 1654
# No HEALTHCHECK: there is no shell to run one in. Ask /healthz and /readyz from outside, as k8s/base does.
ENTRYPOINT ["/app/pnh"]
