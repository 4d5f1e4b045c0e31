#!/bin/sh
# Builds Kubernetes 1.20.2 from the source package of Debian 12, which has the whole tree with its dependencies, so that
# nothing else is downloaded. Takes about ten minutes and 4 GB once; afterwards it does nothing.
#
#   build.sh DIRECTORY     programs in DIRECTORY/bin, and DIRECTORY/pause, which each Pod begins with
set -eu
cd "$1"
package='kubernetes=1.20.5+really1.20.2-1.1+deb12u1'
programs='kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy'
missing=
for program in $programs; do [ -x "bin/$program" ] || missing="$missing $program"; done
if [ -z "$missing" ] && [ -x pause/pause ]; then exit 0; fi
say() { echo "kubernetes: $*" >&2; }

# Debian's sources, by lists of our own: those of this machine stay as they are.
if ! [ -d source ]; then
  say 'getting the sources'
  mkdir -p apt/lists/partial apt/cache/archives/partial download
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:?no mirror of Debian} bookworm main" > apt/sources.list
  apt_here() {
    apt-get --quiet --option "Dir::Etc::SourceList=$PWD/../apt/sources.list" --option Dir::Etc::SourceParts=/dev/null \
      --option "Dir::State::Lists=$PWD/../apt/lists" --option "Dir::Cache=$PWD/../apt/cache" "$@"
  }
  cd download
  apt_here update
  apt_here source --download-only "$package"
  # Kubernetes has a version of this package that crashes when it is compiled with Go 1.18 or newer.
  apt-get --quiet download golang-github-modern-go-reflect2-dev
  rm -rf unpacked reflect2
  dpkg-source --no-check --extract ./*.dsc unpacked
  dpkg-deb --extract golang-github-modern-go-reflect2-dev_*.deb reflect2
  cd ..
  rm -rf download/unpacked/vendor/github.com/modern-go/reflect2
  cp --recursive --dereference download/reflect2/usr/share/gocode/src/github.com/modern-go/reflect2 \
    download/unpacked/vendor/github.com/modern-go/reflect2
  # Last, so that a directory with this name is complete.
  mv download/unpacked source
fi

if ! [ -x pause/pause ]; then
  mkdir -p pause
  gcc -Os -static -DVERSION=1 -o pause/new source/build/pause/linux/pause.c
  mv pause/new pause/pause
fi

# As this version builds itself: by its place below GOPATH, without modules.
root=$PWD
export GOPATH="$root/go" GOCACHE="$root/go-cache" GO111MODULE=off GOPROXY=off GOFLAGS= CGO_ENABLED=0
export PATH="/usr/lib/go-1.19/bin:$PATH"
mkdir -p go/src/k8s.io bin
ln -sfn "$root/source" go/src/k8s.io/kubernetes
cd go/src/k8s.io/kubernetes

# The one file that neither the project nor Debian ships, made by the generator in the tree.
generated=pkg/generated/openapi/zz_generated.openapi.go
if ! [ -s "$generated" ]; then
  say 'generating the API description'
  go build -o "$root/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  marked=$(grep --recursive --files-with-matches --include='*.go' '+k8s:openapi-gen=' pkg staging/src/k8s.io |
    grep --invert-match --regexp=code-generator --regexp=sample-apiserver --regexp=zz_generated |
    xargs -n 1 dirname | sed 's,^staging/src/,vendor/,; s,^,k8s.io/kubernetes/,' | sort --unique | paste --serial --delimiters=,)
  "$root/openapi-gen" --logtostderr --input-dirs "$marked" --output-package k8s.io/kubernetes/pkg/generated/openapi \
    --output-file-base zz_generated.openapi --go-header-file hack/boilerplate/boilerplate.generatego.txt --report-filename /dev/null
fi

flags='-s -w'
for variables in k8s.io/kubernetes/vendor/k8s.io/component-base/version k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version; do
  for value in gitVersion=v1.20.2 gitMajor=1 gitMinor=20 gitTreeState=clean gitCommit=debian buildDate=1970-01-01T00:00:00Z; do
    flags="$flags -X $variables.$value"
  done
done
for program in $missing; do
  say "building $program"
  # Without the clients of cloud providers and of Docker.
  go build -trimpath -tags 'providerless dockerless' -ldflags "$flags" -o "$root/bin/new" "./cmd/$program"
  mv "$root/bin/new" "$root/bin/$program"
done
say 'built'
