terraform {
  required_providers {
    kubectl = {
      source  = "gavinbunney/kubectl"
      version = "1.19.0"
    }
  }
}

variable "kubeconfig" {
  type    = string
  default = "~/.kube/vestibule"
}

provider "kubectl" {
  config_path = var.kubeconfig
}

resource "kubectl_manifest" "staff" {
  server_side_apply = true
  force_conflicts   = true

  yaml_body = yamlencode({
    apiVersion = "id.vestibule.org/v1beta1"
    kind       = "Group"
    metadata   = { name = "staff" }
    spec = {
      displayName = "Staff"
      members     = ["ada@example.org", "grace@example.org"]
    }
  })
}

resource "kubectl_manifest" "wiki" {
  server_side_apply = true
  force_conflicts   = true

  yaml_body = yamlencode({
    apiVersion = "id.vestibule.org/v1beta1"
    kind       = "Client"
    metadata   = { name = "wiki" }
    spec = {
      displayName  = "Wiki"
      type         = "Confidential"
      redirectURIs = ["https://wiki.example.org/callback"]
      # The hash of a random secret. The secret itself is only where the wiki runs.
      secretHashes = ["sha256:9b6aa4be6fc7d3a2f7b0cd47f0c9d8b2b0a4d4c2c8e0d2f5c7f1a6b3e4d5c6f7"]
      scopes       = [{ name = "openid", required = true }, { name = "email", required = true }]
    }
  })
}
