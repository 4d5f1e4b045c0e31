// One operation of the reference: what it takes, what it answers, and how to call it.
import { errorCatalogue, type ErrorCode } from '@berth/contracts/errors'
import { errorsOf, mediaTypeOf, pagingHeaders, statusName } from '@berth/contracts/openapi'
import { takesIdempotencyKey, type Auth, type Operation } from '@berth/contracts/operation'
import { curlOf, shapeOf } from './example.ts'
import { html, joined, prose, type Html } from './html.ts'
import { asSchema, fieldsOf, typeOf } from './schema.ts'
import { heading, sampleFigure } from './section.ts'

export const authNames: Readonly<Record<Auth, string>> = {
  none: 'Open, no key needed',
  bearer: 'Any API key',
  'organization-key': 'Organisation-wide key only',
  'flow-token': 'Any API key, or the token of the flow',
  handoff: 'A one-time code, no key needed',
}

export function operationSection(operation: Operation): Html {
  const { id, method, path, params, query, body, bodyStream, form } = operation
  return html`<section class="entry" id="${id}">
    <div class="text">
      <h3>${heading(prose(operation.summary), id)}</h3>
      <p class="route">${methodMark(method)}<code>${pathOf(path)}</code></p>
      ${
        operation.aliases.length > 0 &&
        html`<p class="aliases">
          also at
          ${joined(
            operation.aliases.map((alias) => html`<code>${pathOf(alias)}</code>`),
            ', ',
          )}
        </p>`
      }
      <p class="marks">
        <a class="mark ${operation.auth}" href="#keys">${authNames[operation.auth]}</a>
        ${operation.paging && html`<a class="mark" href="#paging">Paged by ${operation.paging}</a>`}
        ${takesIdempotencyKey(operation) && html`<a class="mark" href="#idempotency">Idempotency-Key</a>`}
        <span class="id">${id}</span>
      </p>
      ${operation.description !== undefined && html`<p>${prose(operation.description)}</p>`}
      ${
        params &&
        html`<h4>Path</h4>
          ${fieldsOf(asSchema(params), 'sent')}`
      }
      ${
        query &&
        html`<h4>Query</h4>
          ${fieldsOf(asSchema(query), 'sent')}`
      }
      ${
        body &&
        html`<h4>Body<small>${operation.bodyOptional ? 'may be left out' : 'required'}</small></h4>
          ${fieldsOf(asSchema(body), 'sent')}`
      }
      ${
        bodyStream &&
        html`<h4>Body<small>${bodyStream === 'bytes' ? 'any bytes' : 'multipart/form-data'}</small></h4>
          ${form && fieldsOf(asSchema(form), 'sent')}`
      }
      ${answerOf(operation)} ${errorsPart(operation)}
    </div>
    <div class="sample">
      ${sampleFigure({ caption: 'Request', code: curlOf(operation) })} ${answerShape(operation)}
    </div>
  </section>`
}

export function methodMark(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`
}

/** A long path may break after a slash, and its parameters stand out. */
function pathOf(path: string): Html {
  const parts = path.split(/(\{\w+\})/)
  return html`${parts.map((part) => (part.startsWith('{') ? html`<b>${part}</b>` : joined(part.split(/(?<=\/)/), html`<wbr />`)))}`
}

function answerOf(operation: Operation): Html {
  const { response, status, kind, paging, onceOnly } = operation
  const schema = (kind === 'json' || kind === 'events') && response ? asSchema(response) : undefined
  const isUnnamed = schema?.title === undefined && schema?.items?.title === undefined
  return html`<h4>Answer</h4>
    <p class="answer">
      <span class="status">${status} ${statusName(status)}</span>
      ${schema && html`<span class="type">${typeOf(schema)}</span>`}
      ${kind !== 'json' && kind !== 'empty' && html`<code>${mediaTypeOf(operation)}</code>`}
    </p>
    ${schema && isUnnamed && fieldsOf(schema, 'received')}
    ${
      onceOnly.length > 0 &&
      html`<p>
        ${joined(
          onceOnly.map((name) => html`<code>${name}</code>`),
          ', ',
        )}
        is in the first answer only: <a href="#idempotency">a replay</a> comes without it.
      </p>`
    }
    ${paging && html`<p class="errors common">Headers ${joined(Object.keys(pagingHeaders[paging]).map(pagingLink), ' ')}</p>`}`
}

function pagingLink(name: string): Html {
  return html`<a href="#paging">${name}</a>`
}

function errorsPart(operation: Operation): Html | undefined {
  const all = errorsOf(operation).toSorted((a, b) => errorCatalogue[a].status - errorCatalogue[b].status)
  if (all.length === 0) return undefined
  const own = all.filter((code) => operation.errors.includes(code))
  const common = all.filter((code) => !operation.errors.includes(code))
  return html`<h4>Errors</h4>
    ${own.length > 0 && html`<p class="errors">${joined(own.map(errorLink), ' ')}</p>`}
    ${common.length > 0 && html`<p class="errors common">${joined(common.map(errorLink), ' ')}</p>`}`
}

export function errorLink(code: ErrorCode): Html {
  const { status, meaning } = errorCatalogue[code]
  return html`<a href="#error-${code}" title="${meaning}"><span>${status}</span> ${code}</a>`
}

function answerShape({ kind, response, status }: Operation): Html | undefined {
  if (kind !== 'json' || !response) return undefined
  return sampleFigure({ caption: `Answer ${status}`, code: shapeOf(asSchema(response)) })
}
