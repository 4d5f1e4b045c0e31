// Light, dark, or as the device is set. Only this choice is kept in the browser's storage.
import dark from '../../shared/dark.css?inline'

const STORED = 'berth.theme'
const DEVICE_IS_DARK = '(prefers-color-scheme: dark)'
export const themes = ['device', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const themeWords: Readonly<Record<Theme, string>> = {
  device: 'Colours as the device',
  light: 'Light colours',
  dark: 'Dark colours',
}

const media: Readonly<Record<Theme, string>> = { device: DEVICE_IS_DARK, light: 'not all', dark: 'all' }
const sheet = new CSSStyleSheet()
sheet.replaceSync(dark)

export function theme(): Theme {
  try {
    const stored = localStorage.getItem(STORED)
    return themes.find((each) => each === stored) ?? 'device'
  } catch {
    // The browser keeps nothing.
    return 'device'
  }
}

export function setTheme(chosen: Theme): void {
  sheet.media.mediaText = media[chosen]
  try {
    localStorage.setItem(STORED, chosen)
  } catch {
    // As above.
  }
  for (const listener of listeners) listener()
}

/** The colours of light.css are there from the start; these come after them. */
export function showTheme(): void {
  sheet.media.mediaText = media[theme()]
  document.adoptedStyleSheets.push(sheet)
}

const listeners = new Set<() => void>()

/** For what draws with colours of its own, such as charts and terminals. */
export function onTheme(listener: () => void): () => void {
  const device = matchMedia(DEVICE_IS_DARK)
  device.addEventListener('change', listener)
  listeners.add(listener)
  return () => {
    device.removeEventListener('change', listener)
    listeners.delete(listener)
  }
}

export const colour = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()
