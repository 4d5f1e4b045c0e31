// The types of noVNC that the page uses; the package has none. See its docs/API.md.
declare module '@novnc/novnc' {
  interface Queue {
    /** Whether there are fewer bytes. */
    rQwait(what: string, bytes: number): boolean
    rQshift32(): number
    rQshiftBytes(bytes: number, isCopy: boolean): Uint8Array<ArrayBuffer>
  }
  interface Decoder {
    /** False to be called again with more bytes. */
    decodeRect(x: number, y: number, width: number, height: number, queue: Queue): boolean
  }
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket | string, options?: { shared?: boolean })
    /** By encoding. noVNC has no other way to add one. */
    readonly _decoders: Record<number, Decoder>
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
