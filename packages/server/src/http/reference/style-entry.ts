// An entry: headings, text on the left, and what names an operation.
import { css } from './css.ts'

export const entry = css`
  h1,
  h2,
  h3,
  h4 {
    line-height: 1.25;
    letter-spacing: -0.015em;
    text-wrap: balance;
  }
  h1 {
    margin: 0;
    font-size: 2.5rem;
    letter-spacing: -0.03em;
  }
  .opening p {
    color: var(--soft);
    font-size: 1.125rem;
  }
  h2 {
    margin: 0 0 0.75rem;
    font-size: 1.5rem;
  }
  h2.tag {
    margin: 4rem 0 0;
    font-size: 1.875rem;
    letter-spacing: -0.025em;
  }
  h3 {
    margin: 0 0 0.5rem;
    font-size: 1.25rem;
  }
  h4 {
    margin: 2rem 0 0;
    font-size: 0.9375rem;
  }
  h4 small {
    margin-left: 0.5rem;
    color: var(--soft);
    font-size: 0.8125rem;
    font-weight: 400;
    letter-spacing: 0;
  }
  .anchor {
    margin-left: 0.4rem;
    color: var(--soft);
    font-weight: 400;
    text-decoration: none;
    opacity: 0;
  }
  :is(h2, h3):hover .anchor,
  .anchor:focus {
    opacity: 1;
  }

  .entry {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 29rem);
    column-gap: 3.5rem;
    padding: 2.5rem 0;
    border-bottom: 1px solid var(--line);
  }
  h2.tag + .entry {
    padding-top: 1.75rem;
    scroll-margin-top: 5rem;
  }
  .text {
    max-width: 44rem;
  }
  .text > :last-child,
  .text p:last-child {
    margin-bottom: 0;
  }
  .text :not(pre) > code:not(.name) {
    padding: 0.08em 0.32em;
    border-radius: 4px;
    background: var(--code);
    font-size: 0.86em;
    white-space: nowrap;
  }
  .text .answer > code:not(.name),
  .text .type > code:not(.name) {
    white-space: normal;
    overflow-wrap: anywhere;
  }
  .wide {
    grid-column: 1 / -1;
    margin-top: 2rem;
  }
  .plain {
    padding-left: 1.1rem;
  }
  .plain li {
    margin: 0.4rem 0;
  }
  .plain li::marker {
    color: var(--soft);
  }

  .route {
    display: flex;
    align-items: baseline;
    gap: 0.6rem;
    margin: 0.75rem 0 0;
  }
  .text .route > code:not(.name),
  .text .aliases > code:not(.name) {
    padding: 0;
    background: none;
    font-size: 0.9375rem;
  }
  .route code b,
  .aliases code b {
    color: var(--accent);
    font-weight: inherit;
  }
  .aliases {
    margin: 0.15rem 0 0;
    color: var(--soft);
    font-size: 0.875rem;
  }
  .text .aliases > code:not(.name) {
    font-size: 0.8125rem;
  }
  .method {
    display: inline-block;
    padding: 0.1rem 0.45rem;
    border: 1px solid;
    border-radius: 4px;
    font: 650 0.75rem/1.5 var(--mono);
  }
  .get {
    color: var(--get);
  }
  .post {
    color: var(--post);
  }
  .patch {
    color: var(--patch);
  }
  .put {
    color: var(--put);
  }
  .delete {
    color: var(--delete);
  }
  .marks {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.4rem 0.5rem;
    margin: 0.9rem 0 0;
  }
  .mark {
    padding: 0.05rem 0.5rem;
    border: 1px solid var(--line);
    border-radius: 99px;
    color: var(--soft);
    font-size: 0.8125rem;
    text-decoration: none;
  }
  a.mark:hover {
    border-color: var(--accent);
    color: var(--accent);
  }
  .mark.organization-key {
    border-color: currentColor;
    color: var(--patch);
  }
  .mark.none {
    border-color: currentColor;
    color: var(--post);
  }
  .mark.required {
    padding: 0;
    border: 0;
    color: var(--patch);
  }
  .id {
    margin-left: auto;
    color: var(--soft);
    font: 0.8125rem var(--mono);
  }
`
