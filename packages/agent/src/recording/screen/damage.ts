// The display reports which parts of the screen have changed (extension DAMAGE), so no picture is needed to learn that
// nothing changed.
// https://www.x.org/releases/current/doc/damageproto/damageproto.txt, …/fixesproto/fixesproto.txt
import type { XConnection } from '../../display/x-connection.ts'
import { xRequest } from '@berth/codecs/x11/request'
import type { Part } from '@berth/codecs/yuv/converter'

const QUERY_VERSION = 0
const DAMAGE_CREATE = 1
const DAMAGE_SUBTRACT = 3
const NON_EMPTY = 3
const FIXES_CREATE_REGION = 5
const FIXES_FETCH_REGION = 19
const FIXES_VERSION = 4
const NONE = 0

export class Damage {
  readonly #x: XConnection
  readonly #damageOpcode: number
  readonly #fixesOpcode: number
  readonly #damage: number
  readonly #region: number

  private constructor(x: XConnection, opcodes: { damage: number; fixes: number }) {
    this.#x = x
    this.#damageOpcode = opcodes.damage
    this.#fixesOpcode = opcodes.fixes
    this.#damage = x.newId()
    this.#region = x.newId()
    x.post(xRequest(opcodes.fixes, FIXES_CREATE_REGION, this.#region))
    x.post(xRequest(opcodes.damage, DAMAGE_CREATE, this.#damage, x.root, NON_EMPTY))
  }

  /** Called once when something has changed, and not again before take(). */
  static async open(x: XConnection, onDamage: () => void): Promise<Damage> {
    const [damage, fixes] = await Promise.all([x.extension('DAMAGE'), x.extension('XFIXES')])
    await Promise.all([
      x.ask(xRequest(damage.opcode, QUERY_VERSION, 1, 1)),
      x.ask(xRequest(fixes.opcode, QUERY_VERSION, FIXES_VERSION, 0)),
    ])
    x.on(damage.firstEvent, onDamage)
    const opened = new Damage(x, { damage: damage.opcode, fixes: fixes.opcode })
    await x.sync()
    return opened
  }

  /** The parts that changed since the last call. */
  async take(): Promise<Part[]> {
    this.#x.post(xRequest(this.#damageOpcode, DAMAGE_SUBTRACT, this.#damage, NONE, this.#region))
    const reply = await this.#x.ask(xRequest(this.#fixesOpcode, FIXES_FETCH_REGION, this.#region))
    const parts: Part[] = []
    for (let at = 32; at + 8 <= reply.length; at += 8) {
      parts.push({
        x: reply.readInt16LE(at),
        y: reply.readInt16LE(at + 2),
        width: reply.readUInt16LE(at + 4),
        height: reply.readUInt16LE(at + 6),
      })
    }
    return parts
  }
}
