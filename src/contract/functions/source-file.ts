// Names of the modules that source files are bundled into: such a name keeps the name of its source.

const IS_BUNDLED = /(\.[mc]?[jt]sx?)\.mjs$/

/** `hello.ts.mjs` of `hello.ts`. A module, such as `hello.mjs`, keeps its name. */
export const bundleName = (source: string): string =>
  source.endsWith('.mjs') ? source : `${source}.mjs`

/** `hello.ts` of `hello.ts.mjs`; any other name is its own source. */
export const sourceName = (file: string): string => file.replace(IS_BUNDLED, '$1')
