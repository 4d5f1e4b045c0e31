import type { Duplex } from 'node:stream'

const NEWLINE = 0x0a

/** The first line of a stream, without its end; what follows it is still to be read. Rejects when it is too long or absent. */
export function readFirstLine(stream: Duplex, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0)
    const finish = (error: Error | undefined, line = '') => {
      stream.off('readable', onReadable)
      stream.off('end', onOver)
      stream.off('close', onOver)
      if (error) reject(error)
      else resolve(line)
    }
    const onReadable = () => {
      for (
        let chunk = stream.read() as Buffer | null;
        chunk !== null;
        chunk = stream.read() as Buffer | null
      ) {
        head = Buffer.concat([head, chunk])
        const end = head.indexOf(NEWLINE)
        if (end > maxBytes || (end === -1 && head.length > maxBytes)) {
          return finish(new Error(`The first line is longer than ${maxBytes} bytes`))
        }
        if (end === -1) continue
        const rest = head.subarray(end + 1)
        finish(undefined, head.toString('latin1', 0, end))
        if (rest.length > 0) stream.unshift(rest)
        return
      }
    }
    const onOver = () => finish(new Error('The connection ended before its first line'))
    stream.on('readable', onReadable)
    stream.once('end', onOver)
    stream.once('close', onOver)
  })
}
