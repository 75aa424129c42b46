/** A relay in front of a server, which a test cuts so that one client alone loses it. */
import { connect, createServer, type Server, type Socket } from "node:net"
import { freePort } from "./nats-server.ts"

/** A relay on a port of its own. */
export interface Proxy {
  readonly url: string
  /** Breaks every connection and takes no new one. */
  readonly cut: () => Promise<void>
  /** Takes connections again. */
  readonly mend: () => Promise<void>
}

/** Starts a relay to a port; it is ended by cutting it. */
export const startProxy = async (target: () => number): Promise<Proxy> => {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    // A broken pipe shows as a close on both sides.
    socket.on("error", () => socket.destroy())
  }
  let server: Server | undefined
  const mend = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server = createServer((near) => {
        const far = connect(target(), "127.0.0.1")
        keep(near)
        keep(far)
        near.pipe(far).pipe(near)
      })
      server.once("error", reject)
      server.listen(port, "127.0.0.1", resolve)
    })
  const cut = (): Promise<void> =>
    new Promise((resolve) => {
      server?.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  await mend()
  return { url: `nats://127.0.0.1:${port}`, cut, mend }
}
