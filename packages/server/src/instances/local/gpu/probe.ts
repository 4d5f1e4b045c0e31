// Tries a GPU: Chromium draws on it in a sandbox like that of any session, with the flags of a session with a GPU, and says
// what it drew with. Only a GPU that passes is offered.
import { gpuEnvironment, gpuFeatures, gpuFlags, isSoftwareRenderer } from '@berth/contracts/gpu'
import { runTrial, type Trial } from '../trial.ts'
import type { Gpu } from './find-gpus.ts'
import { driverNames } from './gpu-arguments.ts'

const WITHIN_MS = 45_000
const MiB = 1024 * 1024
const limits = { memoryBytes: 2048 * MiB, processes: 512, cpus: 2, homeBytes: 128 * MiB }

/** Fills the picture with one colour and reads it back: a driver that only says its name has not rendered. */
const PAGE = `<body><script>
const gl = document.createElement('canvas').getContext('webgl2')
let said = 'no WebGL'
if (gl) {
  const program = gl.createProgram()
  const add = (kind, text) => {
    const shader = gl.createShader(kind)
    gl.shaderSource(shader, '#version 300 es\\nprecision highp float;' + text)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
  }
  add(gl.VERTEX_SHADER, 'void main(){gl_Position=vec4(gl_VertexID==1?3.:-1.,gl_VertexID==2?3.:-1.,0,1);}')
  add(gl.FRAGMENT_SHADER, 'out vec4 c;void main(){c=vec4(.2,.4,.6,1);}')
  gl.linkProgram(program)
  gl.useProgram(program)
  gl.drawArrays(gl.TRIANGLES, 0, 3)
  const pixel = new Uint8Array(4)
  gl.readPixels(9, 9, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
  const info = gl.getExtension('WEBGL_debug_renderer_info')
  said = pixel.join() + ' ' + gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)
}
document.body.textContent = '{{' + said + '}}'
</script>`

const PIXEL = '51,102,153,255'

export interface Probed {
  /** As pages see it. */
  readonly renderer?: string
  /** Why it cannot be used. */
  readonly problem?: string
}

export async function probeGpu(trial: Trial, gpu: Gpu): Promise<Probed> {
  // One uid for all: Chromium does not run as root, which the agent is inside.
  const host = { ...trial.host, nativeCalls: undefined }
  try {
    const { output } = await runTrial(
      { ...trial, host },
      { command: command(gpu), limits, gpu, withinMs: WITHIN_MS },
    )
    return judge(output)
  } catch (error) {
    return { problem: `Chromium did not render on it (${(error as Error).message})` }
  }
}

/** `output`: what Chromium wrote, its page included. */
export function judge(output: string): Probed {
  const [, said = ''] = /\{\{(.*?)\}\}/.exec(output) ?? []
  const [, pixel, renderer] = /^([\d,]+) (.+)$/.exec(said) ?? []
  if (renderer === undefined || pixel !== PIXEL) {
    const why = said === '' || said === 'no WebGL' ? whyIn(output) : `it drew ${said}`
    return { problem: `Chromium did not render on it: ${why}` }
  }
  if (isSoftwareRenderer(renderer)) {
    return { problem: `Chromium rendered without it, with ${renderer}: its Vulkan driver does not start` }
  }
  return { renderer }
}

/** What Chromium says of Vulkan says more than what follows from it. */
function whyIn(output: string): string {
  const errors = output.split('\n').filter((line) => /:ERROR:|ERR:|rror:/.test(line))
  const line =
    errors.findLast((each) => /vulkan|vk[A-Z_]/i.test(each)) ?? errors.at(-1) ?? 'it gave no reason'
  return line
    .replace(/^\[[^\]]*\]/, '')
    .trim()
    .slice(0, 300)
}

function command(gpu: Gpu): string[] {
  const words = Object.entries(gpuEnvironment(driverNames(gpu))).map(([name, value]) => `${name}=${value}`)
  const flags = [
    '--headless=new',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-breakpad',
    '--user-data-dir=/tmp/probe',
    ...gpuFlags,
    `--enable-features=${gpuFeatures.join(',')}`,
    '--dump-dom',
    `data:text/html;base64,${Buffer.from(PAGE).toString('base64')}`,
  ]
  // Only errors can be read from outside.
  return ['/bin/sh', '-c', 'export "$1" "$2"; shift 2; exec "$@" >&2', 'sh', ...words, CHROMIUM, ...flags]
}

const CHROMIUM = '/usr/lib/chromium/chromium'
