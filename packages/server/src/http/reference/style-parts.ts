// What an entry is made of: fields, errors, tables and samples.
import { css } from './css.ts'

export const parts = css`
  .fields {
    margin: 0.5rem 0 0;
    padding: 0;
    list-style: none;
  }
  .fields li {
    padding: 0.55rem 0;
    border-top: 1px solid var(--line);
  }
  h4 + .fields li:first-child,
  h3 + .fields li:first-child {
    border-top: 0;
  }
  .field > * {
    margin-right: 0.45rem;
  }
  .name {
    font-size: 0.875rem;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .type {
    color: var(--soft);
    font-size: 0.875rem;
  }
  .fields p {
    margin: 0.05rem 0 0;
    font-size: 0.9375rem;
  }
  .type i {
    margin: 0 0.4rem;
    font-style: normal;
  }
  .answer {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0.6rem;
    margin: 0.5rem 0 0;
  }
  .answer .status {
    color: var(--post);
    font-weight: 600;
    font-size: 0.9375rem;
  }
  .answer .type {
    font-size: 0.9375rem;
  }

  .errors {
    display: flex;
    flex-wrap: wrap;
    gap: 0.35rem 1rem;
    margin: 0.5rem 0 0;
    font: 0.8125rem/1.6 var(--mono);
  }
  .errors a {
    color: var(--ink);
    text-decoration: none;
    white-space: nowrap;
  }
  .errors a:hover {
    color: var(--accent);
    text-decoration: underline;
  }
  .errors span {
    color: var(--delete);
  }
  .errors.common a,
  .errors.common span {
    color: var(--soft);
  }
  .errors.common a:hover {
    color: var(--accent);
  }

  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 0.9375rem;
  }
  th {
    color: var(--soft);
    font-size: 0.8125rem;
    font-weight: 600;
    text-align: left;
  }
  th,
  td {
    padding: 0.5rem 1rem 0.5rem 0;
    border-bottom: 1px solid var(--line);
    vertical-align: baseline;
  }
  tbody tr:last-child td {
    border-bottom: 0;
  }
  td code {
    font-size: 0.875rem;
  }
  .catalogue .status,
  .retry {
    font-variant-numeric: tabular-nums;
    color: var(--soft);
  }
  .retry b {
    color: var(--post);
    font-weight: 600;
  }
  tr:target {
    background: var(--tint);
  }

  .sample {
    position: sticky;
    top: 1.5rem;
    align-self: start;
    max-height: calc(100vh - 3rem);
    overflow-y: auto;
    scrollbar-width: thin;
  }
  figure {
    margin: 0;
    border-radius: 8px;
    background: var(--panel);
    color: var(--panel-ink);
    overflow: hidden;
  }
  figure + figure {
    margin-top: 1rem;
  }
  figcaption {
    display: flex;
    justify-content: space-between;
    padding: 0.5rem 1rem 0;
    color: var(--panel-soft);
    font-size: 0.8125rem;
  }
  pre {
    margin: 0;
    padding: 0.4rem 1rem 0.9rem;
    font-size: 0.8125rem;
    line-height: 1.6;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  pre i {
    color: var(--panel-soft);
    font-style: normal;
  }
  pre b,
  pre a {
    color: var(--panel-type);
    font-weight: inherit;
  }
  @media (prefers-color-scheme: dark) {
    figure {
      border: 1px solid var(--line);
    }
  }
  .object {
    grid-template-columns: minmax(0, 1fr);
  }
  .used {
    margin: 0 0 0.75rem;
    color: var(--soft);
    font-size: 0.875rem;
  }
  footer {
    padding-top: 3rem;
    color: var(--soft);
    font-size: 0.875rem;
  }
`
