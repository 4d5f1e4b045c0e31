import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from './probe.ts'

const page = (said: string) => `noise\n<html><head></head><body>{{${said}}}</body></html>\n`
const H200 = 'ANGLE (NVIDIA, Vulkan 1.4.312 (NVIDIA NVIDIA H200 (0x00002335)), NVIDIA)'

test('a GPU counts when it has drawn the colour', () => {
  assert.deepEqual(judge(page(`51,102,153,255 ${H200}`)), { renderer: H200 })
  assert.match(judge(page(`0,0,0,0 ${H200}`)).problem!, /it drew 0,0,0,0/)
})

test('a program that renders is no GPU', () => {
  const said = '51,102,153,255 ANGLE (Mesa, llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5)'
  assert.match(judge(page(said)).problem!, /rendered without it, with ANGLE \(Mesa, llvmpipe/)
})

test('the last error of Chromium is the reason', () => {
  const output = `[1:1:ERROR:one.cc] first\n[1:1:ERROR:vulkan.cc] vkCreateInstance() failed: -9\n${page('no WebGL')}`
  assert.match(judge(output).problem!, /vkCreateInstance\(\) failed: -9/)
  assert.match(judge('').problem!, /it gave no reason/)
})
