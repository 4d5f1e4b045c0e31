import { css } from '../../../http/reference/css.ts'

export const style = css`
  :root {
    color-scheme: dark;
    --paper: #0b1218;
    --raised: #121c24;
    --ink: #e2eaef;
    --soft: #93a5b0;
    --line: #22303a;
    --accent: #6cc3ec;
    --warn: #f2b06b;
  }
  * {
    box-sizing: border-box;
  }
  html,
  body {
    margin: 0;
    min-height: 100%;
  }
  body {
    display: flex;
    flex-direction: column;
    min-height: 100dvh;
    background: var(--paper);
    color: var(--ink);
    font:
      15px/1.5 ui-sans-serif,
      system-ui,
      -apple-system,
      'Segoe UI',
      Roboto,
      sans-serif;
  }
  main {
    flex: 1;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 1rem;
    width: 100%;
    max-width: 110rem;
    margin: 0 auto;
    padding: 1rem;
  }
  main.with-chapters {
    grid-template-columns: minmax(0, 1fr) 20rem;
  }
  figure {
    margin: 0;
    min-width: 0;
  }
  video {
    display: block;
    width: 100%;
    max-height: calc(100dvh - 6rem);
    background: #000;
    border: 1px solid var(--line);
    border-radius: 8px;
  }
  figcaption {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1.25rem;
    padding: 0.75rem 0.25rem 0;
    color: var(--soft);
    font-size: 0.875rem;
  }
  figcaption a,
  .message a {
    color: var(--accent);
  }
  .warn {
    color: var(--warn);
  }
  nav {
    display: flex;
    flex-direction: column;
    min-height: 0;
    max-height: calc(100dvh - 2rem);
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: 8px;
    overflow: hidden;
  }
  h2 {
    margin: 0;
    padding: 0.75rem 1rem;
    font-size: 0.875rem;
    font-weight: 600;
    border-bottom: 1px solid var(--line);
  }
  ol {
    list-style: none;
    margin: 0;
    padding: 0;
    overflow-y: auto;
  }
  nav button {
    display: grid;
    grid-template-columns: 4rem minmax(0, 1fr);
    align-items: baseline;
    width: 100%;
    min-height: 44px;
    padding: 0.6rem 1rem;
    border: 0;
    border-left: 3px solid transparent;
    background: none;
    color: inherit;
    font: inherit;
    text-align: left;
    cursor: pointer;
    overflow-wrap: anywhere;
  }
  nav button time {
    color: var(--soft);
    font-variant-numeric: tabular-nums;
  }
  nav button:hover {
    background: #ffffff0d;
  }
  nav button[aria-current] {
    border-left-color: var(--accent);
    background: #6cc3ec1a;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }
  .message {
    margin: auto;
    max-width: 32rem;
    padding: 2rem;
    text-align: center;
  }
  .message h1 {
    margin: 0 0 0.5rem;
    font-size: 1.25rem;
  }
  .message p {
    margin: 0;
    color: var(--soft);
  }
  @media (max-width: 60rem) {
    main,
    main.with-chapters {
      grid-template-columns: minmax(0, 1fr);
      align-content: start;
      padding: 0;
      gap: 0;
    }
    video {
      border-width: 0 0 1px;
      border-radius: 0;
      max-height: 70dvh;
    }
    figcaption {
      padding: 0.75rem 1rem;
    }
    nav {
      max-height: none;
      border-width: 1px 0 0;
      border-radius: 0;
    }
  }
`.replaceAll(/\s+/g, ' ')
