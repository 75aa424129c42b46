/**
 * `protobufjs`, ready for use under the tests' module conditions. They hand its `require` the ESM
 * form of `long`, whose class is the default export; it looks for the class itself.
 */
import protobuf from "protobufjs"

const long: object = protobuf.util.Long
if ("default" in long) {
  Object.assign(protobuf.util, { Long: long.default })
  protobuf.configure()
}

export { protobuf }
