// Settings of Vite for the build and for development. No file is inlined, as the content security policy
// allows no data: address and nothing inline.
import react from '@vitejs/plugin-react'
import { join } from 'node:path'
import type { InlineConfig } from 'vite'
import { ROOT } from './sources.ts'

/** Node's modules that the verifier of receipts (src/tlog) imports, as the browser has them. */
const NODE_PARTS = ['crypto', 'buffer'].map((name) => ({
  find: `node:${name}`,
  replacement: join(ROOT, 'src', 'proof', `node-${name}.ts`),
}))

export const config: InlineConfig = {
  root: ROOT,
  configFile: false,
  appType: 'spa',
  publicDir: false,
  clearScreen: false,
  plugins: [react()],
  resolve: { alias: NODE_PARTS },
  worker: { format: 'es' },
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: 'manifest.json',
    // light-dark() needs these.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: ['index.html', 'landing.html'].map((page) => join(ROOT, page)),
    },
  },
}
