from django.urls import include, path

from people import home, profile

urlpatterns = [
    path("", home),
    path("accounts/profile/", profile),
    path("", include("social_django.urls", namespace="social")),
]
