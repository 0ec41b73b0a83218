// What kustomize renders: known fields only (TypeScript against kubernetes-types), right types and formats (kubernetes-models), and the
// promises of k8s/README.md: no rights, ports and names that meet, one writer.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { check, checked, finish } from "./report.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");

const operator = "monitoring.coreos.com/v1";

// kubernetes-types has one module per group and version; the operator's kinds have one each.
const typeModules = {
  v1: "core/v1", "apps/v1": "apps/v1", "networking.k8s.io/v1": "networking/v1", "policy/v1": "policy/v1", "autoscaling/v2": "autoscaling/v2",
};

for (const folder of ["k8s/base", "k8s/overlays/example", "k8s/overlays/edges", "k8s/overlays/monitors"]) {
  const objects = await checked(`${folder} renders`, () => render(folder));
  if (objects) {
    await checked(`${folder} has no unknown field`, () => checkFields(objects));
    for (const object of objects) {
      await checked(`${folder} ${object.kind} ${object.metadata.name} is valid`, () => checkTypes(object));
    }

    if (folder.endsWith("/monitors")) {
      checkMonitors(folder, objects);
      continue;
    }

    checkPromises(folder, objects);
    if (folder.endsWith("/edges")) {
      checkEdges(folder, objects);
    }
  }
}

check("a misspelt field would be found", misspeltIsFound());
finish();

/** The compiler could be set up so that it finds nothing: it must find this. */
function misspeltIsFound() {
  try {
    checkFields([{ apiVersion: "apps/v1", kind: "StatefulSet", spec: { replica: 1, selector: {}, serviceName: "x", template: {} } }]);
  } catch (e) {
    return /replica.* does not exist/.test(e.message) ? null : e.message;
  }

  return "spec.replica was taken";
}

function render(folder) {
  const text = execFileSync("kubectl", ["kustomize", join(root, folder)], { encoding: "utf8", timeout: 60_000, stdio: ["ignore", "pipe", "pipe"] });
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  if (objects.length === 0) {
    throw new Error("nothing was rendered");
  }

  return objects;
}

/** A literal assigned to its type: TypeScript refuses what the type does not know. */
function checkFields(objects) {
  const lines = objects.map((object, i) => {
    const module = typeModules[object.apiVersion];
    if (!module && object.apiVersion !== operator) {
      throw new Error(`no types known for ${object.apiVersion}; add them to typeModules`);
    }

    const type = module ? `{ ${object.kind} as T${i} } from "kubernetes-types/${module}"` : `{ I${object.kind} as T${i} } from "${modelOf(object)}"`;
    return `import type ${type};\nexport const o${i}: T${i} = ${JSON.stringify(object, null, 1)};`;
  });
  const folder = mkdtempSync(join(here, ".types-"));
  try {
    writeFileSync(join(folder, "rendered.ts"), lines.join("\n"));
    const compiler = join(here, "node_modules/.bin/tsc");
    const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler", "--types", ""];
    execFileSync(compiler, [...options, join(folder, "rendered.ts")], { encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "pipe"] });
  } catch (e) {
    throw new Error(e.stdout || e.message);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function modelOf({ apiVersion, kind }) {
  return `${apiVersion === operator ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"}/${apiVersion}/${kind}`;
}

async function checkTypes(object) {
  // kustomize folds long base64 into lines, which the API server takes and the strict format does not.
  if (object.kind === "Secret") {
    object = { ...object, data: Object.fromEntries(Object.entries(object.data).map(([k, v]) => [k, v.replaceAll("\n", "")])) };
  }

  const { [object.kind]: Model } = await import(modelOf(object));
  new Model(object).validate();
}

/** True when every label that is asked for is there. */
function selects(selector, labels) {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

function checkPromises(folder, objects) {
  const of = (kind) => objects.filter((o) => o.kind === kind);
  const named = (kind, name) => of(kind).find((o) => o.metadata.name === name);
  const [hub] = of("StatefulSet");
  const workloads = [hub, ...of("Deployment")];
  const [container] = hub.spec.template.spec.containers;
  const promise = (name, holds) => check(`${folder} ${name}`, holds ? null : "does not hold");

  promise("runs one replica", hub.spec.replicas === 1);
  promise("replaces a pod that never becomes ready on a rollback", hub.spec.podManagementPolicy === "Parallel");
  promise("writes to the volume", container.volumeMounts.some((m) => m.mountPath === "/data"));
  // Liveness begins only after the startup probe: one that waits for readiness leaves a store that closed itself alone for as long as a start may take.
  promise("gives a start 30 minutes to read its journal", container.startupProbe.failureThreshold * container.startupProbe.periodSeconds === 1800);
  promise("names a Service of its own", named("Service", hub.spec.serviceName)?.spec.clusterIP === "None");
  promise("has Services that find pods", of("Service").length >= 2 && of("Service").every((service) => workloads.some((workload) => {
    const ports = workload.spec.template.spec.containers[0].ports.map((p) => p.name);
    return selects(service.spec.selector, workload.spec.template.metadata.labels) && service.spec.ports.every((p) => ports.includes(p.targetPort));
  })));
  promise("denies all traffic by default", of("NetworkPolicy").some((p) => Object.keys(p.spec.podSelector).length === 0
    && !p.spec.ingress && !p.spec.egress && p.spec.policyTypes.length === 2));
  const operations = of("NetworkPolicy").flatMap((p) => p.spec.ingress ?? []).filter((rule) => rule.ports.some((p) => p.port === "operations"));
  promise("opens operations to a named namespace alone", operations.length === workloads.length && operations.every((rule) => rule.from?.length === 1));
  promise("commits no secret", of("Secret").flatMap((s) => Object.entries(s.data))
    .every(([key, value]) => key.endsWith("__Scopes") || Buffer.from(value, "base64").toString().includes("REPLACE-ME")));
  for (const workload of workloads) {
    checkPod(`${folder} ${workload.metadata.name}`, workload, named);
  }
}

/** What holds for a pod of either role. */
function checkPod(name, workload, named) {
  const pod = workload.spec.template.spec;
  const [container] = pod.containers;
  const promise = (what, holds) => check(`${name} ${what}`, holds ? null : "does not hold");
  promise("runs as user 1654, never root", pod.securityContext.runAsNonRoot && pod.securityContext.runAsUser === 1654);
  promise("gives no rights", !container.securityContext.allowPrivilegeEscalation && container.securityContext.capabilities.drop.includes("ALL")
    && pod.securityContext.seccompProfile.type === "RuntimeDefault" && pod.automountServiceAccountToken === false);
  promise("has a read-only root and a /tmp", container.securityContext.readOnlyRootFilesystem && container.volumeMounts.some((m) => m.mountPath === "/tmp"));
  promise("mounts volumes that exist", container.volumeMounts.every((mount) =>
    [...pod.volumes, ...(workload.spec.volumeClaimTemplates ?? []).map((c) => c.metadata)].some((v) => v.name === mount.name)));
  const ports = new Set(container.ports.map((p) => p.name));
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
  promise("probes the health paths on a port that is there", probes.every((p) => ports.has((p.httpGet ?? p.tcpSocket).port))
    && container.livenessProbe.httpGet.path === "/healthz" && container.readinessProbe.httpGet.path === "/readyz");
  promise("starts when the operations listener is open, whatever /readyz says", container.startupProbe.tcpSocket?.port === "operations"
    && !container.startupProbe.httpGet);
  promise("takes settings that exist", (container.envFrom ?? []).every((e) =>
    e.configMapRef ? named("ConfigMap", e.configMapRef.name) : named("Secret", e.secretRef.name))
    && (container.env ?? []).every((e) => !e.valueFrom?.secretKeyRef || e.valueFrom.secretKeyRef.key in (named("Secret", e.valueFrom.secretKeyRef.name)?.data ?? {})));
  promise("mounts keys of secrets that exist", pod.volumes.every((v) => !v.secret
    || (v.secret.items ?? []).every((item) => item.key in (named("Secret", v.secret.secretName)?.data ?? {}))));
}

/** What k8s/overlays/monitors has for the operator: the Services of all nodes, under the jobs of the scrape settings, and the same rules. */
function checkMonitors(folder, objects) {
  const promise = (name, holds) => check(`${folder} ${name}`, holds ? null : "does not hold");
  const [monitor] = objects.filter((o) => o.kind === "ServiceMonitor");
  const [{ key, values }] = monitor.spec.selector.matchExpressions;
  const [endpoint] = monitor.spec.endpoints;
  const services = render("k8s/overlays/edges").filter((o) => o.kind === "Service" && values.includes(o.metadata.labels?.[key]));
  const scraped = services.filter((service) => service.spec.ports.some((port) => port.name === endpoint.port));
  const jobs = parseAllDocuments(readFileSync(join(root, "k8s/prometheus/prometheus.yml"), "utf8"))[0].toJS().scrape_configs.map((job) => job.job_name);
  promise("scrapes hub and edges, each once, under the jobs that the rules ask for", monitor.spec.jobLabel === key
    && scraped.map((service) => service.metadata.labels[key]).sort().join() === jobs.sort().join());
  promise("scrapes Services that see pods which are not ready", scraped.every((service) => service.spec.clusterIP === "None" && service.spec.publishNotReadyAddresses));
  const rules = readFileSync(join(root, "k8s/prometheus/rules.yml"), "utf8").replaceAll(/^(?=.)/gm, "  ");
  const text = readFileSync(join(root, folder, "rules.yaml"), "utf8");
  promise("has the rules of k8s/prometheus/rules.yml", text.endsWith(`\nspec:\n${rules}`));
}

/** What k8s/overlays/edges adds: sockets on edges, everything else at the hub, and no way around. */
function checkEdges(folder, objects) {
  const of = (kind) => objects.filter((o) => o.kind === kind);
  const named = (kind, name) => of(kind).find((o) => o.metadata.name === name);
  const promise = (name, holds) => check(`${folder} ${name}`, holds ? null : "does not hold");
  const [[hub], [edges], [scaler], [ingress], [budget]] = [of("StatefulSet"), of("Deployment"), of("HorizontalPodAutoscaler"), of("Ingress"), of("PodDisruptionBudget")];
  const [hubPod, edgePod] = [hub.spec.template, edges.spec.template];
  const [hubLabels, edgeLabels] = [hubPod.metadata.labels, edgePod.metadata.labels];
  const [hubContainer, container] = [hubPod.spec.containers[0], edgePod.spec.containers[0]];
  const variable = (of, name) => of.env.find((e) => e.name === name);
  const takes = (pod) => pod.spec.volumes.find((v) => v.name === "cluster").secret.items.map((item) => item.key);

  promise("runs both roles of one image", hubContainer.args.join(" ") === "serve --role hub" && container.args.join(" ") === "serve --role edge" && hubContainer.image === container.image);
  promise("lets the autoscaler say how many edges there are", edges.spec.replicas === undefined && scaler.spec.scaleTargetRef.name === edges.metadata.name
    && scaler.spec.scaleTargetRef.kind === "Deployment" && scaler.spec.minReplicas >= 2);
  const { metric } = scaler.spec.metrics[0].external;
  const adapter = parseAllDocuments(readFileSync(join(root, folder, "adapter.yaml"), "utf8"))[0].toJS().rules.external;
  const jobs = parseAllDocuments(readFileSync(join(root, "k8s/prometheus/prometheus.yml"), "utf8"))[0].toJS().scrape_configs;
  promise("scales by a metric that the adapter's rule and the scrape settings have", adapter.some((rule) => rule.seriesQuery.includes(`"${metric.name}"`))
    && jobs.some((job) => job.job_name === metric.selector.matchLabels.job && job.dns_sd_configs[0].names[0].startsWith("_operations._tcp.pnh-edge-operations.")));
  promise("keeps the hub's private key from edges", takes(hubPod).includes("tls.key") && takes(edgePod).join() === "key,ca.crt");
  promise("gives an edge what checks tokens, and no other secret", !container.envFrom && container.env.every((e) =>
    !e.valueFrom?.secretKeyRef || /^Pnh__Apps__.+__Tokens__/.test(e.valueFrom.secretKeyRef.key)));
  const dialled = new URL(variable(container, "Pnh__Hubs").value);
  const service = named("Service", dialled.hostname);
  promise("dials the hub by TLS, also while it is not ready", dialled.protocol === "https:" && selects(service.spec.selector, hubLabels) && service.spec.publishNotReadyAddresses
    && service.spec.ports.some((p) => `${p.port}` === dialled.port && p.targetPort === "links") && variable(hubContainer, "Pnh__Cluster__Urls").value.endsWith(`:${dialled.port}`));
  const backend = (path) => ingress.spec.rules[0].http.paths.find((p) => p.path === path);
  const reaches = (path, labels) => selects(named("Service", backend(path).backend.service.name).spec.selector, labels);
  promise("sends sockets to edges and all else to the hub", backend("/v1/socket").pathType === "Exact" && reaches("/v1/socket", edgeLabels)
    && backend("/").pathType === "Prefix" && reaches("/", hubLabels) && !reaches("/", edgeLabels));
  const policies = of("NetworkPolicy");
  const egress = policies.filter((p) => selects(p.spec.podSelector.matchLabels ?? {}, edgeLabels)).flatMap((p) => p.spec.egress ?? []);
  promise("lets an edge speak to its hub and to DNS alone", egress.length === 2 && egress.every((rule) => rule.to.every((to) =>
    to.podSelector ? selects(to.podSelector.matchLabels, hubLabels) && rule.ports[0].port === "links" : to.namespaceSelector && rule.ports.every((p) => p.port === 53))));
  const links = policies.flatMap((p) => p.spec.ingress ?? []).filter((rule) => rule.ports.some((p) => p.port === "links"));
  promise("lets edges alone reach the listener for links", links.length === 1 && links[0].from.length === 1 && selects(links[0].from[0].podSelector.matchLabels, edgeLabels)
    && !selects(links[0].from[0].podSelector.matchLabels, hubLabels));
  promise("takes one edge at a time", budget.spec.maxUnavailable === 1 && selects(budget.spec.selector.matchLabels, edgeLabels) && edges.spec.strategy.rollingUpdate.maxUnavailable === 0);
  promise("gives an edge time to hand its sessions over", edgePod.spec.terminationGracePeriodSeconds >= 30);
}
