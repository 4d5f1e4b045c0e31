// A page that keeps a GPU busy, and says how long it takes for one frame.
import type { Page } from 'playwright-core'

export const SIZE = { width: 1920, height: 1080 }
/** WebGPU is only for secure origins, so the page pretends to be one. */
const ORIGIN = 'https://gpu.test/'

/** 200 rounds of sines for each pixel: some 0.4 billion a frame. */
const PAGE = `<!doctype html><title>GPU</title>
<style>body { margin: 0; overflow: hidden } canvas { display: block; width: 100vw; height: 100vh }</style>
<canvas width="${SIZE.width}" height="${SIZE.height}"></canvas>
<script>
const canvas = document.querySelector('canvas')
const gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true })
window.renderer = () => {
  if (!gl) return 'no WebGL'
  const info = gl.getExtension('WEBGL_debug_renderer_info')
  return gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)
}
const program = gl && gl.createProgram()
if (gl) {
  const add = (kind, text) => {
    const shader = gl.createShader(kind)
    gl.shaderSource(shader, '#version 300 es\\nprecision highp float;' + text)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
  }
  add(gl.VERTEX_SHADER, 'void main(){gl_Position=vec4(gl_VertexID==1?3.:-1.,gl_VertexID==2?3.:-1.,0,1);}')
  add(gl.FRAGMENT_SHADER, 'uniform float t; uniform vec3 plain; out vec4 c; void main(){' +
    'if(plain.r>=0.){c=vec4(plain,1);return;} vec2 p=gl_FragCoord.xy/500.; float s=0.;' +
    'for(int i=0;i<200;i++) s+=sin(p.x*float(i)+t)*cos(p.y*float(i)-t); c=vec4(.5+.5*sin(s),.5+.5*cos(s),.5,1);}')
  gl.linkProgram(program)
  gl.useProgram(program)
}
const at = gl && gl.getUniformLocation(program, 't'), plain = gl && gl.getUniformLocation(program, 'plain')
const pixel = new Uint8Array(4)
const draw = (time, colour) => {
  gl.uniform1f(at, time)
  gl.uniform3f(plain, ...(colour ?? [-1, 0, 0]))
  gl.drawArrays(gl.TRIANGLES, 0, 3)
}
/** Until the picture is there: only then can its pixel be read. */
const finish = () => gl.readPixels(5, 5, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
window.frameTimes = (count) => {
  const times = []
  for (let n = -3; n < count; n++) {
    const startedAt = performance.now()
    draw(n / 10)
    finish()
    if (n >= 0) times.push(performance.now() - startedAt)
  }
  return times
}
window.paint = (...colour) => {
  draw(0, colour)
  finish()
  return [...pixel]
}
/** Frames that the page gets to show in a second, while each is drawn. */
window.framesPerSecond = (ms, colour) => new Promise((done) => {
  let count = 0
  const startedAt = performance.now()
  const next = () => {
    draw(count / 10, colour && [count % 2, 0, 0])
    count++
    const passed = performance.now() - startedAt
    if (passed < ms) requestAnimationFrame(next)
    else done(count * 1000 / passed)
  }
  requestAnimationFrame(next)
})
window.webgpu = async () => {
  const adapter = await navigator.gpu?.requestAdapter()
  if (!adapter) return navigator.gpu ? 'no adapter' : 'no WebGPU'
  const device = await adapter.requestDevice()
  const { vendor, architecture, description } = adapter.info
  const buffer = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC })
  const result = device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST })
  const module = device.createShaderModule({ code:
    '@group(0) @binding(0) var<storage, read_write> out: u32; @compute @workgroup_size(1) fn main() { out = 6u * 7u; }' })
  const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } })
  const entries = [{ binding: 0, resource: { buffer } }]
  const commands = device.createCommandEncoder()
  const pass = commands.beginComputePass()
  pass.setPipeline(pipeline)
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }))
  pass.dispatchWorkgroups(1)
  pass.end()
  commands.copyBufferToBuffer(buffer, 0, result, 0, 4)
  device.queue.submit([commands.finish()])
  await result.mapAsync(GPUMapMode.READ)
  const answer = new Uint32Array(result.getMappedRange())[0]
  return JSON.stringify({ vendor, architecture, description, answer })
}
</script>`

export async function openPage(page: Page): Promise<void> {
  await page.route(`${ORIGIN}**`, (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
  await page.goto(ORIGIN)
}

export const rendererOf = (page: Page) => page.evaluate<string>('renderer()')

/** The median, in milliseconds. */
export async function frameTime(page: Page, count: number): Promise<number> {
  return median(await page.evaluate<number[]>(`frameTimes(${count})`))
}

/** Fills the window, and returns what was read back. */
export const paint = (page: Page, [red, green, blue]: readonly number[]) =>
  page.evaluate<number[]>(`paint(${red! / 255}, ${green! / 255}, ${blue! / 255})`)

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!
}
