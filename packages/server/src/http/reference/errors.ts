// The errors of the API: their shape, when to try again, and the whole catalogue.
import { errorCatalogue, errorCodes, type ErrorBody, type ErrorCode } from '@berth/contracts/errors'
import { errorsOf } from '@berth/contracts/openapi'
import type { Operation } from '@berth/contracts/operation'
import { html, joined, prose, type Html } from './html.ts'
import { errorLink } from './operation.ts'
import type { GuideSection } from './section.ts'

const ERROR: ErrorBody = {
  code: 'bad_request',
  message: 'Cannot accept the request: name: is required',
  details: [{ code: 'invalid_input', message: 'name: is required' }],
}

export function errorsSection(operations: readonly Operation[]): GuideSection {
  const listed = new Set(operations.flatMap(errorsOf))
  const anywhere = errorCodes.filter((code) => !listed.has(code))
  return {
    id: 'errors',
    title: 'Errors',
    text: html`<p>
        An error is an <a href="#schema-Error">Error</a> object. Decide by its <code>code</code>, which is
        stable; <code>message</code> and <code>details</code> are for people and name what to change.
      </p>
      <p>
        “Retry” below is what the published client does by itself, twice unless told otherwise. Where that
        would be in vain although the status suggests it, the answer says <code>X-Should-Retry: false</code>.
        <code>too_many_requests</code> and <code>unavailable</code> say in <code>Retry-After</code> how long
        to wait.
      </p>
      <p>
        Each operation lists its errors: first its own, then those it shares with others.
        ${anywhere.length > 0 && 'These are not listed there, since any request may meet them:'}
      </p>
      ${anywhere.length > 0 && html`<p class="errors common">${joined(anywhere.map(errorLink), ' ')}</p>`}`,
    samples: [
      {
        caption: '400 Bad request',
        code: JSON.stringify(ERROR, null, 2),
      },
    ],
    wide: catalogueTable(),
  }
}

function catalogueTable(): Html {
  return html`<table class="catalogue">
    <thead>
      <tr>
        <th>Status</th>
        <th>Code</th>
        <th>Meaning</th>
        <th>Retry</th>
      </tr>
    </thead>
    <tbody>
      ${errorCodes.map(catalogueRow)}
    </tbody>
  </table>`
}

function catalogueRow(code: ErrorCode): Html {
  const { status, meaning } = errorCatalogue[code]
  return html`<tr id="error-${code}">
    <td class="status">${status}</td>
    <td><code>${code}</code></td>
    <td>${prose(meaning)}</td>
    <td class="retry">${isRetried(code) ? html`<b>yes</b>` : 'no'}</td>
  </tr>`
}

/** The rule of the published clients, which heed `x-should-retry` before the status. */
function isRetried(code: ErrorCode): boolean {
  const { status, final } = errorCatalogue[code]
  return !final && (status === 408 || status === 409 || status === 429 || status >= 500)
}
