// The types of noVNC that the page uses; the package has none. See its docs/API.md.
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket | string, options?: { shared?: boolean })
    viewOnly: boolean
    scaleViewport: boolean
    resizeSession: boolean
    focusOnClick: boolean
    showDotCursor: boolean
    background: string
    /** JPEG quality, 0 to 9. */
    qualityLevel: number
    /** 0 to 9. */
    compressionLevel: number
    disconnect(): void
    focus(options?: FocusOptions): void
    blur(): void
    sendKey(keysym: number, code: string | null, down?: boolean): void
    clipboardPasteFrom(text: string): void
  }
}
