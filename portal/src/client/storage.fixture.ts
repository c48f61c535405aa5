// A stand-in of the browser's storage. Tests of one process share the last one that was set.

export function createStorage() {
  const kept = new Map<string, string>()
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
    removeItem: (name: string) => void kept.delete(name),
  }
}

/** Sets `localStorage`; before the module is loaded that uses the storage. */
export const setLocalStorage = (): void =>
  void Object.defineProperty(globalThis, 'localStorage', {
    value: createStorage(),
    configurable: true,
  })
