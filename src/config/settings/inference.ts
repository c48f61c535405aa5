// The settings of inference.
import { z } from 'zod'
import { oneOfWords } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const INFERENCE_SETTINGS = {
  models: {
    name: 'ERGON_MODELS',
    flag: 'models',
    help: 'Default models to load: names by comma, "none", or "default" for all (default)',
    check: z.string().default('default'),
  },
  gpu: {
    name: 'ERGON_GPU',
    flag: 'gpu',
    help: 'What models here use of a GPU: off, auto, cuda or vulkan; needs the package of it, and a meter of it: nvidia-smi in PATH, or ERGON_PLUG_URL (default off)',
    check: oneOfWords(['off', 'auto', 'cuda', 'vulkan']).default('off'),
  },
} satisfies Settings
