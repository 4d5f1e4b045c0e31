// Colours in light and dark, the page, and the menu beside it.
import { css } from './css.ts'

export const frame = css`
  :root {
    color-scheme: light dark;
    --paper: #ffffff;
    --side: #f5f7f9;
    --ink: #15222c;
    --soft: #56656f;
    --line: #e1e7eb;
    --accent: #005f8a;
    --tint: #e8f2f7;
    --code: #eef2f4;
    --panel: #0f1f2a;
    --panel-ink: #dbe7ee;
    --panel-soft: #86a0b0;
    --panel-type: #7fd0c4;
    --get: #00617f;
    --post: #1a6b35;
    --patch: #8a5200;
    --put: #6a3fa0;
    --delete: #b3261e;
    --sans: ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
    --mono: ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #0d151b;
      --side: #0a1116;
      --ink: #dfe8ed;
      --soft: #93a5b0;
      --line: #1f2d37;
      --accent: #6cc3ec;
      --tint: #11293a;
      --code: #18242d;
      --panel: #081016;
      --get: #5fc3dd;
      --post: #6fce8c;
      --patch: #e3b062;
      --put: #bd9bea;
      --delete: #f28b82;
    }
  }
  * {
    box-sizing: border-box;
  }
  html {
    scroll-padding-top: 1.5rem;
    -webkit-text-size-adjust: 100%;
  }
  body {
    margin: 0;
    display: grid;
    grid-template-columns: 19rem minmax(0, 1fr);
    background: var(--paper);
    color: var(--ink);
    font: 16px/1.6 var(--sans);
  }
  a {
    color: var(--accent);
    text-decoration-thickness: 1px;
    text-underline-offset: 0.18em;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
    border-radius: 3px;
  }
  .skip:not(:focus) {
    position: absolute;
    left: -999px;
  }
  code,
  pre {
    font-family: var(--mono);
  }
  p,
  ul {
    margin: 0.75rem 0;
  }

  nav {
    position: sticky;
    top: 0;
    height: 100vh;
    overflow-y: auto;
    padding: 1.5rem 0.75rem 3rem;
    background: var(--side);
    border-right: 1px solid var(--line);
    font-size: 0.875rem;
    scrollbar-width: thin;
    scroll-target-group: auto;
  }
  .brand {
    display: flex;
    align-items: center;
    gap: 0.55rem;
    padding: 0 0.6rem;
    color: var(--ink);
    font-size: 1.125rem;
    font-weight: 650;
    letter-spacing: -0.01em;
    text-decoration: none;
  }
  .brand svg {
    color: var(--accent);
  }
  .brand small {
    margin-left: auto;
    color: var(--soft);
    font-size: 0.75rem;
    font-weight: 400;
  }
  nav p {
    margin: 1.5rem 0.6rem 0.35rem;
    color: var(--ink);
    font-size: 0.8125rem;
    font-weight: 650;
  }
  nav ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  nav li a {
    display: flex;
    align-items: baseline;
    gap: 0.5rem;
    padding: 0.22rem 0.6rem;
    border-radius: 5px;
    color: var(--soft);
    text-decoration: none;
  }
  nav li a:hover {
    background: var(--tint);
    color: var(--ink);
  }
  nav li a:target-current {
    background: var(--tint);
    color: var(--accent);
  }
  nav li span:last-child {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  nav .method {
    flex: none;
    width: 3rem;
    padding: 0;
    border: 0;
    font-size: 0.625rem;
  }
  .bar,
  .close {
    display: none;
  }

  main {
    padding: 0 3.5rem 4rem;
    max-width: 82rem;
  }
  .opening {
    padding: 3.5rem 0 1.5rem;
    max-width: 44rem;
  }
`
