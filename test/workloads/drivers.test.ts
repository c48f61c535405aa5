// Each driver passes the contract.
import { createCellDriver } from '#workloads/local-driver.ts'
import { createDockerDriver } from '#workloads/docker/docker-driver.ts'
import { openEngine } from '#workloads/docker/open-engine.ts'
import { driverContract } from './driver-contract.ts'
import { noEngine, startPodman, type TestEngine } from './podman.ts'

driverContract({
  name: 'local',
  skip: process.getuid?.() !== 0 && 'needs root',
  open: async (deps) => createCellDriver(deps),
  close: async () => undefined,
})

let podman: TestEngine | undefined
driverContract({
  name: 'docker',
  skip: noEngine,
  async open(deps) {
    podman = await startPodman()
    const { socket } = podman
    const { isolation } = deps.cells
    const engine = await openEngine(socket, { isolation, installation: 'test' })
    return createDockerDriver({ ...deps, engine, installation: 'test' })
  },
  close: async () => await podman?.stop(),
})
