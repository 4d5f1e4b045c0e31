import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkGpu } from './gpu.ts'

/** A Chromium that names this renderer. */
const browser = (glRenderer?: string) => ({
  call: <T>() =>
    // SAFETY: what Chromium answers to the one question that is asked.
    Promise.resolve({ gpu: { auxAttributes: glRenderer === undefined ? {} : { glRenderer } } } as T),
})

test('a renderer that is a program, or none at all, is no GPU', async () => {
  await checkGpu(
    browser('ANGLE (NVIDIA, Vulkan 1.4.312 (NVIDIA NVIDIA H200 (0x00002335)), NVIDIA-580.159.4.0)'),
  )
  await assert.rejects(
    checkGpu(
      browser('ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)'),
    ),
    /does not render on the GPU \(ANGLE \(Google/,
  )
  await assert.rejects(checkGpu(browser('')), /does not render on the GPU \(no renderer\)/)
  await assert.rejects(checkGpu(browser()), /no renderer/)
})
