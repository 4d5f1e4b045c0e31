// Less room: one column on a tablet, and on a phone a menu that opens as the target of its link,
// which needs no script and closes when an entry is chosen. And paper, which needs no menu.
import { css } from './css.ts'

export const narrow = css`
  @media (max-width: 75rem) {
    .entry {
      grid-template-columns: minmax(0, 1fr);
    }
    .sample {
      position: static;
      max-width: 44rem;
      max-height: none;
      margin-top: 1.5rem;
    }
    main {
      padding: 0 2.5rem 4rem;
    }
  }
  @media (max-width: 50rem) {
    html {
      scroll-padding-top: 4.25rem;
    }
    body {
      display: block;
    }
    .bar {
      position: sticky;
      top: 0;
      z-index: 1;
      display: flex;
      align-items: center;
      justify-content: space-between;
      padding: 0.75rem 1.25rem;
      background: var(--paper);
      border-bottom: 1px solid var(--line);
    }
    .bar .brand {
      padding: 0;
    }
    nav {
      display: none;
    }
    nav:target {
      position: fixed;
      inset: 0;
      z-index: 2;
      display: block;
      height: auto;
      border: 0;
      font-size: 1rem;
    }
    nav .brand small {
      display: none;
    }
    nav li a {
      padding: 0.45rem 0.6rem;
    }
    .close {
      position: fixed;
      top: 0.9rem;
      right: 0.75rem;
      display: block;
      padding: 0.5rem;
      background: var(--side);
    }
    main {
      padding: 0 1.25rem 3rem;
    }
    .opening {
      padding: 2rem 0 0.5rem;
    }
    h1 {
      font-size: 2rem;
    }
    .id {
      margin-left: 0;
      width: 100%;
    }
    .catalogue,
    .catalogue tbody {
      display: block;
    }
    .catalogue thead {
      display: none;
    }
    .catalogue tr {
      display: grid;
      grid-template-columns: 2.75rem 1fr auto;
      padding: 0.6rem 0;
      border-bottom: 1px solid var(--line);
    }
    .catalogue td {
      padding: 0;
      border: 0;
    }
    .catalogue td:nth-child(3) {
      grid-row: 2;
      grid-column: 2 / -1;
      color: var(--soft);
    }
    .retry::before {
      content: 'retry ';
    }
  }
  @media print {
    nav,
    .bar,
    .anchor {
      display: none;
    }
    body {
      display: block;
    }
    .entry {
      break-inside: avoid;
    }
  }
`
