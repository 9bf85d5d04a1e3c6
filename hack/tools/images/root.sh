# Sourced by what makes images of Debian packages.

# root_of ROOT DEB ...: creates a root file system from packages. They are unpacked, not installed, so the
# files that their scripts would write follow.
root_of() {
  local root=$1 name deb
  shift
  mkdir -p "$root"/usr/{bin,lib,lib64,sbin} "$root"/{dev,proc,sys,run,root,home/nonroot} "$root/etc/ssl/certs"
  for name in bin lib lib64 sbin; do ln -s "usr/$name" "$root/$name"; done
  for deb in "$@"; do dpkg-deb --fsys-tarfile "$deb" | tar -xp -C "$root" --keep-directory-symlink --no-same-owner; done
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt > "$root/etc/ssl/certs/ca-certificates.crt"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' > "$root/etc/passwd"
  printf 'root:x:0:\nnobody:x:65534:\ntty:x:5:\nstaff:x:50:\nnonroot:x:65532:\n' > "$root/etc/group"
}
