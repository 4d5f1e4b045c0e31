// Every icon of the dashboard: one path each, drawn with the colour of the text around it.
const paths = {
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  sessions: 'M3.5 5.5h17v13h-17zM3.5 9.5h17M6 7.5h.01M8.5 7.5h.01',
  pools: 'M12 3.5l8.5 4.5L12 12.5 3.5 8zM3.5 12L12 16.5 20.5 12M3.5 16L12 20.5 20.5 16',
  profiles: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5a7.5 7.5 0 0 1 15 0',
  proxies: 'M4 7h12l-3-3M20 17H8l3 3',
  extensions: 'M9 4.5h6V8h4.5v5H16v2.5h3.5v4h-15V8H9z',
  apps: 'M7 8l-4 4 4 4M17 8l4 4-4 4M14 4.5l-4 15',
  logins: 'M14 4h6v16h-6M3.5 12H15M11 8l4 4-4 4',
  credentials: 'M8 15a4 4 0 1 1 3.5-6H21v4h-2.5v2.5H15V13h-3.5A4 4 0 0 1 8 15zM8 11h.01',
  webhooks:
    'M12 6.5a3 3 0 1 1 2.6 3l-3 5.2M9 16.8A3 3 0 1 1 6 13.5a3 3 0 0 1 1 .2l2.9-5M14.5 15.5a3 3 0 1 1-.4 3.5H9',
  projects: 'M3.5 6h6l2 2.5h9V19h-17z',
  keys: 'M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3M12 14.5v2',
  audit: 'M6 3.5h8.5L19 8v12.5H6zM14 3.5V8.5h5M9 12h6M9 16h6',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.7-4.7',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  menu: 'M4 7h16M4 12h16M4 17h16',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  copy: 'M9 8.5h10.5v11H9zM14.5 8.5V4.5H4.5v11H9',
  download: 'M12 4v11M7.5 10.5L12 15l4.5-4.5M4.5 19.5h15',
  upload: 'M12 15.5V4.5M7.5 9L12 4.5 16.5 9M4.5 19.5h15',
  refresh: 'M20 11A8 8 0 0 0 5.5 7.5L4 9M4 4.5V9h4.5M4 13a8 8 0 0 0 14.5 3.5L20 15M20 19.5V15h-4.5',
  trash: 'M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10 11v5.5M14 11v5.5',
  stop: 'M6.5 6.5h11v11h-11z',
  play: 'M7.5 5v14l11-7z',
  pause: 'M8 5v14M16 5v14',
  folder: 'M3.5 6h6l2 2.5h9V19h-17z',
  file: 'M6 3.5h8.5L18.5 8v12.5H6zM14 3.5V8.5h4.5',
  terminal: 'M4 5.5h16v13H4zM7 9l3 3-3 3M12.5 15H17',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 14.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6z',
  clock: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 7.5V12l3 2',
  warning: 'M12 4l9 16H3zM12 10v4.5M12 17.2v.01',
  right: 'M9 5.5l6.5 6.5L9 18.5',
  down: 'M5.5 9l6.5 6.5L18.5 9',
  back: 'M19 12H5M11 6l-6 6 6 6',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1',
  out: 'M10 4H4v16h6M9 12h11.5M16.5 8l4 4-4 4',
  sun: 'M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  book: 'M12 6.5C10 5 7 4.5 3.5 4.5v14c3.5 0 6.5.5 8.5 2 2-1.5 5-2 8.5-2v-14C17 4.5 14 5 12 6.5zM12 6.5v14',
} as const

export type IconName = keyof typeof paths

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
