// What every call has in common, told once before the operations. Whatever the contract knows is
// computed from it; the rest are promises of http/, to be kept in step with it.
import type { Operation } from '@berth/contracts/operation'
import { pagingHeaders } from '@berth/contracts/openapi'
import { appsSection } from './apps.ts'
import { controlsSection } from './controls.ts'
import { errorsSection } from './errors.ts'
import { html, joined, prose, type Html } from './html.ts'
import { authNames } from './operation.ts'
import { sessionsSection } from './sessions.ts'
import type { GuideSection } from './section.ts'

export function guideSections(operations: readonly Operation[]): GuideSection[] {
  return [
    start,
    keys,
    projects,
    sessionsSection,
    controlsSection,
    appsSection,
    conventions,
    errorsSection(operations),
    paging,
    rateLimits,
    idempotency(operations),
    requestIds,
  ]
}

const start: GuideSection = {
  id: 'start',
  title: 'Start',
  text: html`<p>
      The base URL is the address the server prints when it starts, <code>http://127.0.0.1:8080</code> unless
      configured otherwise. Requests and answers are JSON unless an operation says otherwise.
    </p>
    <p>
      The first API key is made at the first start. It is printed then, and kept in the file
      <code>api-key</code> of the data directory.
    </p>
    <p>
      The published client <code>@onkernel/sdk</code> works unchanged: give it this server's address as
      <code>baseURL</code> and a key of this server as <code>apiKey</code>.
    </p>`,
  samples: [
    {
      caption: 'First call',
      code: `export BERTH_URL=http://127.0.0.1:8080
export BERTH_API_KEY=$(cat .berth/api-key)

curl "$BERTH_URL/org/projects" \\
  -H "Authorization: Bearer $BERTH_API_KEY"`,
    },
    {
      caption: 'With the client',
      code: `import Kernel from '@onkernel/sdk'

const client = new Kernel({
  baseURL: process.env.BERTH_URL,
  apiKey: process.env.BERTH_API_KEY,
})

for await (const project of client.projects.list()) {
  console.log(project.id, project.name)
}`,
    },
  ],
}

const keys: GuideSection = {
  id: 'keys',
  title: 'Keys',
  text: html`<p>
      Send the key as a bearer token. It is either organisation-wide or belongs to one project, and every
      operation says whom it serves:
    </p>
    <ul class="fields">
      <li>
        <div class="field"><span class="mark none">${authNames.none}</span></div>
        <p>Probes and this reference.</p>
      </li>
      <li>
        <div class="field"><span class="mark bearer">${authNames.bearer}</span></div>
        <p>
          A project key sees its own project and nothing else: what belongs to another project is answered as
          if it did not exist.
        </p>
      </li>
      <li>
        <div class="field"><span class="mark organization-key">${authNames['organization-key']}</span></div>
        <p>
          A project key is answered with <a href="#error-forbidden"><code>forbidden</code></a
          >.
        </p>
      </li>
      <li>
        <div class="field"><span class="mark">${authNames['flow-token']}</span></div>
        <p>The page of a login has a token of its own, for one connection and half an hour.</p>
      </li>
      <li>
        <div class="field"><span class="mark">${authNames.handoff}</span></div>
        <p>The address of that page carries it, and it works once.</p>
      </li>
    </ul>`,
  samples: [{ caption: 'Header', code: 'Authorization: Bearer $BERTH_API_KEY' }],
}

const projects: GuideSection = {
  id: 'projects',
  title: 'Projects',
  text: html`<p>
      A project keeps resources apart within the organisation. A request names the one it works in with a
      header; a project key needs none.
    </p>
    <ul class="fields">
      <li>
        <div class="field">
          <code class="name">X-Kernel-Project-Id</code> <span class="type">string</span>
        </div>
        <p>Id of the project. The client sends it for its option <code>projectID</code>.</p>
      </li>
      <li>
        <div class="field"><code class="name">X-Kernel-Project</code> <span class="type">string</span></div>
        <p>Id or exact name of the project.</p>
      </li>
    </ul>
    <p>
      One of them is enough; two that differ are refused with
      <a href="#error-bad_request"><code>bad_request</code></a
      >. The project must be active, or else the answer is
      <a href="#error-project_not_found"><code>project_not_found</code></a
      >; a project key that names another project is answered with
      <a href="#error-forbidden"><code>forbidden</code></a
      >.
    </p>`,
  samples: [
    {
      caption: 'By name',
      code: `curl "$BERTH_URL/org/limits" \\
  -H "Authorization: Bearer $BERTH_API_KEY" \\
  -H "X-Kernel-Project: Default"`,
    },
  ],
}

const conventions: GuideSection = {
  id: 'conventions',
  title: 'Conventions',
  text: html`<ul class="plain">
    <li>Times are RFC 3339 with a zone, such as <code>2026-01-31T12:00:00Z</code>; answers are in UTC.</li>
    <li>
      Bodies are sent as <code>application/json</code>, with at most 1 MiB; a create of a session may have 6
      MiB.
    </li>
    <li>Unknown fields of a body are refused, unknown query parameters are ignored.</li>
    <li>Text holds no control characters and no broken Unicode.</li>
    <li>A list in a query is written <code>a=1,2</code> or <code>a=1&amp;a=2</code>.</li>
    <li>In a change, a field that is left out stays as it is.</li>
    <li>Deleting by id what is already deleted is a success.</li>
  </ul>`,
  samples: [],
}

const paging: GuideSection = {
  id: 'paging',
  title: 'Paging',
  text: html`<p>
      Lists are bare arrays; where the next page begins is in the headers. The client follows them by itself
      when a list is iterated.
    </p>
    <p>
      <b>By offset.</b> Ask with <code>limit</code> and <code>offset</code>, go on from
      <code>X-Next-Offset</code> while <code>X-Has-More</code> is <code>true</code>. JavaScript clients before
      0.68 count on from that header themselves, so they are sent the present offset in it.
    </p>
    ${headerList(pagingHeaders.offset)}
    <p>
      <b>By token.</b> The audit log grows while it is read, so its pages hang together by an opaque token:
      pass <code>X-Next-Page-Token</code> as <code>page_token</code>, with the other parameters unchanged.
    </p>
    ${headerList(pagingHeaders.token)}
    <p>
      <b>By cursor.</b> An export is fetched chunk by chunk in the same way: pass
      <code>X-Next-Cursor</code> as <code>cursor</code>.
    </p>
    ${headerList(pagingHeaders.cursor)}`,
  samples: [
    {
      caption: 'Second page',
      code: `curl -i "$BERTH_URL/org/projects?limit=20&offset=20" \\
  -H "Authorization: Bearer $BERTH_API_KEY"`,
    },
  ],
}

function headerList(headers: (typeof pagingHeaders)['offset']): Html {
  const rows = Object.entries(headers).map(
    ([name, { description, schema }]) =>
      html`<li>
        <div class="field"><code class="name">${name}</code><span class="type">${schema.type}</span></div>
        <p>${prose(description)}</p>
      </li>`,
  )
  return html`<ul class="fields">
    ${rows}
  </ul>`
}

const rateLimits: GuideSection = {
  id: 'rate-limits',
  title: 'Rate limits',
  text: html`<p>
      Requests with a valid key count against one limit of the organisation, in fixed windows of a minute and
      on each server by itself. The operator sets it; ${'12\u202f000'} a minute is the default.
    </p>
    <p>
      Every counted answer says where you stand. Beyond the limit it is
      <a href="#error-too_many_requests"><code>too_many_requests</code></a> with the seconds to wait in
      <code>Retry-After</code>. Without a limit these headers are absent.
    </p>`,
  samples: [
    {
      caption: 'Headers',
      code: `X-RateLimit-Limit: 12000
X-RateLimit-Remaining: 11999`,
    },
  ],
}

function idempotency(operations: readonly Operation[]): GuideSection {
  const once = operations.filter(({ onceOnly }) => onceOnly.length > 0)
  return {
    id: 'idempotency',
    title: 'Idempotency',
    text: html`<p>
        A request whose answer got lost can be sent again. Give a JSON POST an <code>Idempotency-Key</code> of
        1 to 255 visible ASCII characters: for 24 hours, the same key with the same request has one effect and
        one answer. The repeated answer carries <code>Idempotent-Replayed: true</code>. The client sends the
        same key again when it retries by itself.
      </p>
      <ul class="plain">
        <li>
          The same key with another request is
          <a href="#error-idempotency_key_reused"><code>idempotency_key_reused</code></a
          >.
        </li>
        <li>While the first request is under way, a second one waits for its answer.</li>
        <li>Only successes are kept. After an error the key is as good as new.</li>
        ${
          once.length > 0 &&
          html`<li>
            What is shown once stays so. A repeated
            ${joined(
              once.map(({ id }) => html`<a href="#${id}"><code>${id}</code></a>`),
              ' or ',
            )}
            never returns the key again.
          </li>`
        }
        <li>
          Callers with an organisation-wide API key share one set of these keys; each project has its own.
        </li>
      </ul>`,
    samples: [
      {
        caption: 'Safe to repeat',
        code: `KEY=$(uuidgen)

curl "$BERTH_URL/org/projects" \\
  -H "Authorization: Bearer $BERTH_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $KEY" \\
  -d '{"name":"staging"}'`,
      },
      {
        caption: 'With the client',
        code: `await client.projects.create({ name: 'staging' }, {
  headers: { 'Idempotency-Key': crypto.randomUUID() },
})`,
      },
    ],
  }
}

const requestIds: GuideSection = {
  id: 'request-ids',
  title: 'Request ids',
  text: html`<p>
    Every answer to a well-formed request carries an <code>X-Request-Id</code>. The server makes it, logs it,
    and keeps it with the audit record; quote it when something went wrong.
  </p>`,
  samples: [{ caption: 'Header', code: 'X-Request-Id: req_h2k9s0w4m1xz00000a' }],
}
