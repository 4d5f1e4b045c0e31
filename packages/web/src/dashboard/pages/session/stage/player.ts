// The video of a recording, as the timeline sees it: which moment it shows, and how to go to another one.
import { createContext, useContext, useSyncExternalStore } from 'react'

export class Player {
  readonly #listeners = new Set<() => void>()
  #video: HTMLVideoElement | undefined
  #startedAtMs = 0
  #nowMs: number | undefined

  /** Returns how to leave it. */
  attach(video: HTMLVideoElement, startedAtMs: number): () => void {
    this.#video = video
    this.#startedAtMs = startedAtMs
    const onTime = () => {
      this.#nowMs = startedAtMs + video.currentTime * 1000
      this.#tell()
    }
    const events = ['timeupdate', 'seeked'] as const
    for (const event of events) video.addEventListener(event, onTime)
    this.#tell()
    return () => {
      for (const event of events) video.removeEventListener(event, onTime)
      this.#video = undefined
      this.#nowMs = undefined
      this.#tell()
    }
  }

  /** What time it was when the shown picture was taken; undefined without a video. */
  get nowMs(): number | undefined {
    return this.#nowMs
  }

  get isPlaying(): boolean {
    return this.#video !== undefined && !this.#video.paused
  }

  /** False when there is no video of that time. */
  goTo(ms: number): boolean {
    const video = this.#video
    if (!video) return false
    const seconds = (ms - this.#startedAtMs) / 1000
    const length = Number.isFinite(video.duration) ? video.duration : Infinity
    video.currentTime = Math.min(Math.max(seconds, 0), length)
    return seconds >= 0 && seconds <= length
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

export const PlayerContext = createContext(new Player())

export const usePlayer = () => useContext(PlayerContext)

export function useShownMoment(): number | undefined {
  const player = usePlayer()
  return useSyncExternalStore(player.subscribe, () => player.nowMs)
}
